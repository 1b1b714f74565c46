"""Sends the cases of a file with aioapns; prints what came of each, one JSON object a line."""
import asyncio
import json
import ssl
import sys

import aioapns
from aioapns import APNs, NotificationRequest, PushType

setup = json.load(open(sys.argv[1]))


class Local(aioapns.connection.APNsTLSClientProtocol):
    APNS_SERVER = "localhost"
    APNS_PORT = setup["port"]


class LocalCertificate(aioapns.connection.APNsTLSClientProtocol):
    APNS_SERVER = "localhost"
    APNS_PORT = setup["port"]


def client(case):
    context = ssl.create_default_context(cafile=setup["ca"])
    if "certificate" in case:
        context.load_cert_chain(case["certificate"])
        made = APNs(client_cert=case["certificate"], ssl_context=context, topic=setup["topic"])
    else:
        made = APNs(
            key=open(case.get("key", setup["key"])).read(),
            key_id=setup["keyId"],
            team_id=setup["team"],
            topic=setup["topic"],
            ssl_context=context,
        )
    made.pool.protocol_class = Local
    return made


async def send(case):
    request = NotificationRequest(
        device_token=case["token"],
        message=case["payload"],
        notification_id=case.get("id"),
        time_to_live=case.get("ttl"),
        priority=case.get("priority"),
        push_type=PushType(case["type"]) if "type" in case else None,
        apns_topic=case.get("topic"),
    )
    made = client(case)
    result = await made.send_notification(request)
    made.pool.close()
    return {
        "status": int(result.status),
        "reason": result.description or "",
        "id": result.notification_id,
        "timestamp": getattr(result, "timestamp", None),
    }


async def burst(case, count):
    """All at once over one connection that is not there yet."""
    made = client(case)
    made.pool.max_connections = 1
    results = await asyncio.gather(
        *[
            made.send_notification(
                NotificationRequest(device_token=case["token"], message=case["payload"])
            )
            for _ in range(count)
        ]
    )
    made.pool.close()
    return {"statuses": sorted({int(result.status) for result in results})}


async def main():
    for case in setup["cases"]:
        try:
            sending = burst(case, case["burst"]) if "burst" in case else send(case)
            outcome = await asyncio.wait_for(sending, 60)
        except Exception as error:
            outcome = {"raised": type(error).__name__, "text": str(error)}
        print(json.dumps({"case": case["name"], **outcome}), flush=True)


asyncio.run(main())
