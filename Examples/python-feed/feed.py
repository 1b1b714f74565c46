#!/usr/bin/python3
"""A feed that is kept fresh in the background, with nothing but a D-Bus library (dbus-fast).

Run by Offstage, never by hand: it is started when the user opens it, or when its refresh is due,
and it is suspended as soon as it has nothing left to do. What it reads stands in FEED_URL, what it
found in ~/.local/share/python-feed/titles.
"""

import asyncio
import os
import pathlib
import time
import urllib.request
import xml.etree.ElementTree as ElementTree

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, method

REFRESH = "org.example.PythonFeed.refresh"
TITLES = pathlib.Path.home() / ".local/share/python-feed/titles"


class Daemon:
    """org.offstage.App1, on the daemon's private socket."""

    def __init__(self):
        runtime = os.environ.get("XDG_RUNTIME_DIR", "/nowhere")
        self.socket = os.environ.get("OFFSTAGE_SOCKET") or runtime + "/offstage/socket"

    async def connect(self, app):
        self.bus = await MessageBus(bus_address="unix:path=" + self.socket).connect()
        self.bus.export("/org/offstage/app", app)
        greeting = await self.call("Hello", "a{sv}", {"version": Variant("x", 1)})
        await self.call("FinishedLaunching", "as", [REFRESH])
        return greeting[0]

    async def call(self, member, signature="", *arguments):
        answer = await self.bus.call(
            Message(
                destination="org.offstage.Offstage",
                path="/org/offstage",
                interface="org.offstage.App1",
                member=member,
                signature=signature,
                body=list(arguments),
            )
        )
        if answer.message_type == MessageType.ERROR:
            raise RuntimeError(f"{member}: {answer.body[0]}")
        return answer.body


class App(ServiceInterface):
    """What the daemon calls. Each answers at once: the answer to an offer is its receipt."""

    def __init__(self, daemon):
        super().__init__("org.offstage.AppObject1")
        self.daemon = daemon
        self.runs = {}

    @method()
    def Offer(self, delivery: "t", kind: "s", identifier: "s", options: "a{sv}"):
        pass

    @method()
    def Go(self, delivery: "t", options: "a{sv}"):
        # It comes again after a connection was lost: the handler runs once.
        if delivery not in self.runs:
            self.runs[delivery] = asyncio.ensure_future(self.refresh(delivery))

    @method()
    def Expire(self, delivery: "t", reason: "s", options: "a{sv}"):
        if delivery in self.runs:
            self.runs[delivery].cancel()

    @method()
    def ExpireTask(self, task: "t", reason: "s", options: "a{sv}"):
        pass

    @method()
    def EnterBackground(self, options: "a{sv}"):
        pass

    @method()
    def EnterForeground(self, options: "a{sv}"):
        pass

    @method()
    def BecomeActive(self, options: "a{sv}"):
        pass

    @method()
    def MemoryWarning(self, options: "a{sv}"):
        pass

    @method()
    def Changed(self, options: "a{sv}"):
        pass

    async def refresh(self, delivery):
        result = "failed"
        try:
            await self.daemon.call("ExpirationHandler", "tb", delivery, True)
            await submit(self.daemon, after=15 * 60)
            is_new = await asyncio.get_running_loop().run_in_executor(None, fetch)
            result = "newData" if is_new else "noData"
        except asyncio.CancelledError:
            pass
        except (OSError, ElementTree.ParseError, RuntimeError) as error:
            print(f"the feed was not fetched: {error}", flush=True)
        await self.daemon.call("Complete", "ts", delivery, result)


async def submit(daemon, after):
    """Asks for the next refresh; one that is pending is replaced."""
    await daemon.call(
        "Submit",
        "sa{sv}",
        REFRESH,
        {
            "kind": Variant("s", "refresh"),
            "earliest": Variant("d", time.time() + after),
        },
    )


def fetch():
    """Reads the feed; whether it has other titles than before."""
    with urllib.request.urlopen(os.environ["FEED_URL"], timeout=20) as answer:
        feed = ElementTree.fromstring(answer.read(1 << 20))
    titles = "".join(f"{item.findtext('title')}\n" for item in feed.iter("item"))
    before = TITLES.read_text() if TITLES.exists() else ""
    TITLES.parent.mkdir(parents=True, exist_ok=True)
    TITLES.write_text(titles)
    return titles != before


async def main():
    daemon = Daemon()
    greeting = await daemon.connect(App(daemon))
    if greeting["state"].value == "foreground":
        # The user is here: the next refresh may come as soon as it is worth it.
        await submit(daemon, after=0)
    await daemon.bus.wait_for_disconnect()


asyncio.run(main())
