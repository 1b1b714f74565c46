#!/usr/bin/python3
"""Fetches the episodes of a podcast in the background, with nothing but a D-Bus library (dbus-fast).

    episodes.py FEED DIRECTORY      hands the new episodes of a feed to Offstage
    episodes.py --wait …            and returns when all of them are there, or cannot be had

The episodes wait for a network that is not metered and for external power. They arrive also if this
program has ended long before, and after a restart of the machine.
"""

import argparse
import asyncio
import hashlib
import os
import pathlib
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

CONTROL = "org.offstage.Control1"


class Daemon:
    """org.offstage.Control1, on the daemon's private socket."""

    def __init__(self):
        runtime = os.environ.get("XDG_RUNTIME_DIR", "/nowhere")
        self.socket = os.environ.get("OFFSTAGE_SOCKET") or runtime + "/offstage/socket"
        # The ends of transfers, as the daemon tells them.
        self.ends = asyncio.Queue()

    async def connect(self):
        self.bus = await MessageBus(bus_address="unix:path=" + self.socket).connect()
        self.bus.add_message_handler(self.heard)
        rule = f"type='signal',interface='{CONTROL}',member='Happened'"
        await self.call("AddMatch", "s", rule, interface="org.freedesktop.DBus")

    def heard(self, message):
        if message.message_type == MessageType.SIGNAL and message.member == "Happened":
            line = plain(message.body[0])
            if line.get("what") == "transfer":
                self.ends.put_nowait(line)

    async def call(self, member, signature="", *arguments, interface=CONTROL):
        is_bus = interface == "org.freedesktop.DBus"
        answer = await self.bus.call(
            Message(
                destination=interface if is_bus else "org.offstage.Offstage",
                path="/org/freedesktop/DBus" if is_bus else "/org/offstage",
                interface=interface,
                member=member,
                signature=signature,
                body=list(arguments),
            )
        )
        if answer.message_type == MessageType.ERROR:
            raise RuntimeError(f"{member}: {answer.body[0]}")
        return answer.body[0] if answer.body else None


def plain(value):
    """Without the types that D-Bus needs."""
    if isinstance(value, Variant):
        return plain(value.value)
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value


def episodes(feed):
    """The URLs of a feed's enclosures, the newest first."""
    with urllib.request.urlopen(feed, timeout=20) as answer:
        items = ElementTree.fromstring(answer.read(1 << 22)).iter("enclosure")
    return [item.get("url") for item in items if item.get("url")]


def file_name(url):
    return os.path.basename(urllib.parse.unquote(urllib.parse.urlsplit(url).path)) or "episode"


async def enqueue(daemon, urls, directory):
    """Their numbers. All of them are stored when this returns, or none."""
    files = [{"url": Variant("s", url), "file": Variant("s", file_name(url))} for url in urls]
    # Should the daemon go away before it has answered, the same call with the same token does not
    # fetch anything twice.
    token = hashlib.sha256("\n".join([str(directory), *urls]).encode()).hexdigest()
    options = {
        "directory": Variant("s", str(directory)),
        "discretionary": Variant("b", True),
        "token": Variant("s", token),
    }
    reply = await daemon.call("Download", "aa{sv}a{sv}", files, options)
    return plain(reply)["transfers"]


async def wait(daemon, numbers):
    """Until each has ended; whether all have finished."""
    left = set(numbers)
    succeeded = True
    # Some may have ended before anybody listened.
    for transfer in plain(await daemon.call("Transfers")):
        if transfer["id"] in left and "ended" in transfer:
            daemon.ends.put_nowait({"transfer": transfer["id"], "outcome": transfer["state"]})
    while left:
        end = await daemon.ends.get()
        if end["transfer"] in left:
            left.remove(end["transfer"])
            succeeded = succeeded and end["outcome"] == "finished"
            print(f"{end['transfer']}: {end['outcome']}", flush=True)
    return succeeded


async def main():
    parser = argparse.ArgumentParser(description="Fetches the episodes of a podcast.")
    parser.add_argument("feed", metavar="FEED", help="its URL")
    parser.add_argument("directory", metavar="DIRECTORY", type=pathlib.Path)
    parser.add_argument("--wait", action="store_true", help="until all of them are there")
    arguments = parser.parse_args()
    # The daemon follows no link.
    directory = arguments.directory.resolve(strict=True)
    new = [url for url in episodes(arguments.feed) if not (directory / file_name(url)).exists()]
    if not new:
        print("there is nothing new")
        return
    daemon = Daemon()
    await daemon.connect()
    numbers = await enqueue(daemon, new, directory)
    for number, url in zip(numbers, new):
        print(f"{number}: {url}", flush=True)
    if arguments.wait and not await wait(daemon, numbers):
        sys.exit(1)


asyncio.run(main())
