"""Sends the cases of a file with kalyke-apns; prints what came of each, one JSON object a line."""
import asyncio
import json
import os
import sys
from pathlib import Path

setup = json.load(open(sys.argv[1]))
os.environ["SSL_CERT_FILE"] = setup["ca"]

import kalyke  # noqa: E402


class Local(kalyke.ApnsClient):
    @property
    def _base_url(self):
        return "https://localhost:%d" % setup["port"]


async def send(case):
    client = Local(
        use_sandbox=False,
        team_id=setup["team"],
        auth_key_id=setup["keyId"],
        auth_key_filepath=Path(case.get("key", setup["key"])),
    )
    fields = {"topic": case.get("topic", setup["topic"])}
    if "type" in case:
        fields["push_type"] = kalyke.ApnsPushType(case["type"])
    if "priority" in case:
        fields["priority"] = kalyke.ApnsPriority(case["priority"])
    if "expiration" in case:
        fields["expiration"] = case["expiration"]
    if "id" in case:
        fields["identifier"] = case["id"]
    config = kalyke.ApnsConfig(**fields)
    identifier = await client.send_message(
        device_token=case["token"], payload=case["payload"], apns_config=config
    )
    return {"status": 200, "id": identifier, "reason": ""}


async def main():
    for case in setup["cases"]:
        try:
            outcome = await asyncio.wait_for(send(case), 60)
        except Exception as error:
            outcome = {"raised": type(error).__name__, "text": str(error)}
        print(json.dumps({"case": case["name"], **outcome}), flush=True)


asyncio.run(main())
