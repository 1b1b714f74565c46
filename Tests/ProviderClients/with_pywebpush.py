"""Sends the cases of a file with pywebpush; prints what came of each, one JSON object a line.

Then decrypts what a device got of them, as the app that it was for would.
"""
import base64
import json
import os
import sys

setup = json.load(open(sys.argv[1]))
os.environ["REQUESTS_CA_BUNDLE"] = setup["ca"]

import http_ece  # noqa: E402
import pywebpush  # noqa: E402
from cryptography.hazmat.primitives import serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402


def text(value):
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def keys():
    """The app's own, the same in each run."""
    if not os.path.exists(setup["appKey"]):
        made = ec.generate_private_key(ec.SECP256R1())
        with open(setup["appKey"], "wb") as file:
            file.write(
                made.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )
    with open(setup["appKey"], "rb") as file:
        key = serialization.load_pem_private_key(file.read(), None)
    public = key.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
    )
    return key, public, bytes(range(16))


key, public, secret = keys()


def send(case):
    fields = {}
    if "key" in case:
        claims = {"sub": "mailto:operator@example.org", **case.get("claims", {})}
        fields = {"vapid_private_key": case["key"], "vapid_claims": claims}
    try:
        answer = pywebpush.webpush(
            {
                "endpoint": case["endpoint"],
                "keys": {"p256dh": text(public), "auth": text(secret)},
            },
            data=case.get("data"),
            ttl=case.get("ttl", 60),
            headers=case.get("headers", {}),
            content_encoding=case.get("encoding", "aes128gcm"),
            **fields,
        )
    except pywebpush.WebPushException as error:
        return {"status": error.response.status_code, "reason": error.response.json()["reason"]}
    return {
        "status": answer.status_code,
        "reason": "",
        "location": answer.headers["location"],
        "ttl": answer.headers["ttl"],
    }


for case in setup["cases"]:
    try:
        outcome = send(case)
    except Exception as error:
        outcome = {"raised": type(error).__name__, "text": str(error)}
    print(json.dumps({"case": case["name"], **outcome}), flush=True)
for body in setup["bodies"]:
    padded = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    plain = http_ece.decrypt(padded, private_key=key, auth_secret=secret)
    print(json.dumps({"case": body, "text": plain.decode()}), flush=True)
