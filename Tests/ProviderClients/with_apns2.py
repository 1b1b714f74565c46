"""Sends the cases of a file with apns2; prints what came of each, one JSON object a line."""
import collections
import collections.abc
import json
import sys

# The library is older than Python 3.10.
for name in ("Iterable", "Mapping", "MutableMapping", "MutableSet", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))

import apns2.client  # noqa: E402
import hyper  # noqa: E402
from apns2.credentials import TokenCredentials  # noqa: E402
from apns2.payload import Payload  # noqa: E402

setup = json.load(open(sys.argv[1]))


class Local(apns2.client.APNsClient):
    LIVE_SERVER = "localhost"
    DEFAULT_PORT = setup["port"]


class Whole(Payload):
    """A payload as the case has it."""

    def __init__(self, fields):
        aps = fields.get("aps", {})
        super().__init__(alert=aps.get("alert"), badge=aps.get("badge"), sound=aps.get("sound"))
        self.fields = fields

    def dict(self):
        return self.fields


def send(case):
    credentials = TokenCredentials(
        case.get("key", setup["key"]), setup["keyId"], setup["team"]
    )
    credentials._Credentials__ssl_context = hyper.tls.init_context(cert_path=setup["ca"])
    client = Local(credentials)
    client.send_notification(
        case["token"],
        Whole(case["payload"]),
        topic=case.get("topic", setup["topic"]),
        priority=apns2.client.NotificationPriority(str(case.get("priority", 10))),
        expiration=case.get("expiration"),
    )
    return {"status": 200, "reason": ""}


for case in setup["cases"]:
    try:
        outcome = send(case)
    except Exception as error:
        outcome = {"raised": type(error).__name__, "text": str(error)}
        if hasattr(error, "timestamp"):
            outcome["timestamp"] = error.timestamp
    print(json.dumps({"case": case["name"], **outcome}), flush=True)
