#!/usr/bin/python3
"""Fetches the episodes of a podcast in the background, with nothing but a D-Bus library (dbus-fast).

    episodes.py FEED DIRECTORY      hands the new episodes of a feed to Offstage
    episodes.py --wait …            and returns when all of them are there, or cannot be had

The episodes wait for a network that is not metered and for external power. They arrive also if this
program has ended long before, and after a restart of the machine.
"""

import argparse
import asyncio
import http.client
import os
import pathlib
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

from dbus_fast import DBusError, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

CONTROL = "org.offstage.Control1"
# As many transfers are told in one answer.
PAGE = 500


class Problem(Exception):
    """What the user is told in a line."""


class Daemon:
    """org.offstage.Control1, on the daemon's private socket."""

    def __init__(self):
        runtime = os.environ.get("XDG_RUNTIME_DIR", "/nowhere")
        self.socket = os.environ.get("OFFSTAGE_SOCKET") or runtime + "/offstage/socket"
        # The ends of transfers, as the daemon tells them.
        self.ends = asyncio.Queue()

    async def connect(self):
        try:
            self.bus = await MessageBus(bus_address="unix:path=" + self.socket).connect()
        except (OSError, EOFError, DBusError) as error:
            raise Problem(f"no daemon answers at {self.socket}: {error}")
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
            raise Problem(f"{member}: {answer.body[0]}")
        return answer.body[0] if answer.body else None

    async def transfers(self, numbers=None):
        """Those of these numbers, or all. An answer tells some, and the numbers of the others."""
        told = []
        while True:
            options = {}
            if numbers is not None:
                options["transfers"] = Variant("ax", numbers[:PAGE])
            page = plain(await self.call("TransferPage", "a{sv}", options))
            told += page["transfers"]
            numbers = page.get("more", []) + (numbers or [])[PAGE:]
            if not numbers:
                return told


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
    try:
        with urllib.request.urlopen(feed, timeout=20) as answer:
            items = ElementTree.fromstring(answer.read(1 << 22)).iter("enclosure")
    except (OSError, ValueError, ElementTree.ParseError, http.client.HTTPException) as error:
        raise Problem(f"the feed {feed} cannot be read: {error}")
    return [item.get("url") for item in items if item.get("url")]


def file_name(url):
    return os.path.basename(urllib.parse.unquote(urllib.parse.urlsplit(url).path)) or "episode"


def shown(url):
    """As the daemon lists it: without a password."""
    password = urllib.parse.urlsplit(url).password
    return url.replace(f":{password}@", ":***@", 1) if password else url


def as_file(url):
    """What is asked for. The version of dbus-fast that Debian 12 has sends no text beyond ASCII; the
    daemon then names the file by its URL."""
    name = file_name(url)
    file = {"url": Variant("s", url)}
    return file | {"file": Variant("s", name)} if name.isascii() else file


async def enqueue(daemon, urls, directory):
    """Their numbers. All of them are stored when this returns, or none."""
    files = [as_file(url) for url in urls]
    options = {"directory": Variant("s", str(directory)), "discretionary": Variant("b", True)}
    reply = await daemon.call("Download", "aa{sv}a{sv}", files, options)
    return plain(reply)["transfers"]


async def wait(daemon, numbers):
    """Until each has ended; whether all have finished."""
    left = set(numbers)
    succeeded = True
    # Some may have ended before anybody listened.
    asked = numbers
    known = await daemon.transfers(asked)
    while True:
        for number in left.intersection(asked) - {transfer["id"] for transfer in known}:
            left.remove(number)
            succeeded = False
            print(f"{number}: is not listed any more", flush=True)
        for transfer in known:
            if transfer["id"] not in left or "ended" not in transfer:
                continue
            number = transfer["id"]
            left.remove(number)
            succeeded = succeeded and transfer["state"] == "finished"
            # It says also why one has failed.
            sentence = transfer["sentence"].removeprefix(f"transfer {number} ")
            print(f"{number}: {sentence}", flush=True)
        if not left:
            return succeeded
        end = await daemon.ends.get()
        asked = [end["transfer"]] if end["transfer"] in left else []
        known = await daemon.transfers(asked) if asked else []


async def main():
    parser = argparse.ArgumentParser(description="Fetches the episodes of a podcast.")
    parser.add_argument("feed", metavar="FEED", help="its URL")
    parser.add_argument("directory", metavar="DIRECTORY", type=pathlib.Path)
    parser.add_argument("--wait", action="store_true", help="until all of them are there")
    arguments = parser.parse_args()
    # The daemon follows no link.
    directory = arguments.directory.resolve()
    if not directory.is_dir():
        raise Problem(f"{directory} is not a directory")
    urls = dict.fromkeys(episodes(arguments.feed))
    new = [url for url in urls if not (directory / file_name(url)).exists()]
    if not new:
        print("there is nothing new")
        return True
    daemon = Daemon()
    await daemon.connect()
    # What an earlier run has asked for is not fetched twice; what has failed is asked for anew.
    numbers = {
        transfer["url"]: transfer["id"]
        for transfer in await daemon.transfers()
        if "ended" not in transfer and transfer["directory"] == str(directory)
    }
    missing = [url for url in new if shown(url) not in numbers]
    if missing:
        numbers.update(zip(map(shown, missing), await enqueue(daemon, missing, directory)))
    for url in map(shown, new):
        print(f"{numbers[url]}: {url}", flush=True)
    return not arguments.wait or await wait(daemon, [numbers[shown(url)] for url in new])


try:
    sys.exit(0 if asyncio.run(main()) else 1)
except Problem as problem:
    sys.exit(f"episodes.py: {problem}")
