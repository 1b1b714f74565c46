#!/usr/bin/python3
"""A feed that is kept fresh in the background, with nothing but a D-Bus library (dbus-fast).

Run by Offstage, never by hand: it is started when the user opens it, or when its refresh is due,
and it is suspended as soon as it has nothing left to do. What it reads stands in FEED_URL, what it
found in ~/.local/share/python-feed/titles.
"""

import asyncio
import os
import pathlib
import sys
import time
import urllib.request
import xml.etree.ElementTree as ElementTree

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, method

REFRESH = "org.example.PythonFeed.refresh"
TITLES = pathlib.Path.home() / ".local/share/python-feed/titles"

# What the library raises when the daemon has ended.
LOST = (EOFError, OSError)


class Daemon:
    """org.offstage.App1, on the daemon's private socket."""

    def __init__(self):
        runtime = os.environ.get("XDG_RUNTIME_DIR", "/nowhere")
        self.socket = os.environ.get("OFFSTAGE_SOCKET") or runtime + "/offstage/socket"
        self.bus = None

    async def connect(self, app):
        """The first time."""
        greeting = await self.hello(app, {})
        await self.call("FinishedLaunching", "as", [REFRESH])
        return greeting

    async def reconnect(self, app):
        """To the next daemon, once there is one."""
        while True:
            try:
                return await self.resume(app)
            except LOST:
                await asyncio.sleep(1)
            except RuntimeError as error:
                # A refusal: it would be the same the next time.
                sys.exit(f"the daemon refuses this app: {error}")

    async def resume(self, app):
        """Says what still runs, and what has ended meanwhile."""
        ends = dict(app.ends)
        finished = [
            {"delivery": Variant("t", delivery), "result": Variant("s", result)}
            for delivery, result in ends.items()
        ]
        options = {
            "running": Variant("at", [run for run in app.runs if run not in ends]),
            "finished": Variant("aa{sv}", finished),
            "registered": Variant("as", [REFRESH]),
        }
        await self.hello(app, options)
        for delivery in ends:
            app.forget(delivery)
        # What has ended since this hello was written.
        for delivery, result in list(app.ends.items()):
            await app.complete(delivery, result)

    async def hello(self, app, options):
        bus = await MessageBus(bus_address="unix:path=" + self.socket).connect()
        bus.export("/org/offstage/app", app)
        options = {"version": Variant("x", 1), **options}
        answer = await self.ask(bus, "Hello", "a{sv}", options)
        self.bus = bus
        return answer[0]

    async def end(self):
        """Returns when the connection is lost."""
        try:
            await self.bus.wait_for_disconnect()
        except LOST:
            pass
        self.bus = None

    async def call(self, member, signature="", *arguments):
        if not self.bus or not self.bus.connected:
            raise EOFError("there is no daemon")
        return await self.ask(self.bus, member, signature, *arguments)

    async def ask(self, bus, member, signature, *arguments):
        answer = await bus.call(
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
        # What was begun, and, of that, what has ended and the daemon has not confirmed yet.
        self.runs = {}
        self.ends = {}

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
        except Exception as error:
            # Whatever it was: a run that is not completed counts as one that hangs.
            print(f"the feed was not fetched: {error!r}", flush=True)
        await self.complete(delivery, result)

    async def complete(self, delivery, result):
        self.ends[delivery] = result
        try:
            await self.daemon.call("Complete", "ts", delivery, result)
        except LOST:
            # The next Hello says it.
            return
        except RuntimeError as error:
            # A refusal: to say it again would not help.
            print(f"the end of the refresh was refused: {error}", flush=True)
        self.forget(delivery)

    def forget(self, delivery):
        self.ends.pop(delivery, None)
        self.runs.pop(delivery, None)


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
    if not os.environ.get("FEED_URL"):
        sys.exit("FEED_URL is not set: set it in the environment of offstaged")
    daemon = Daemon()
    app = App(daemon)
    greeting = await daemon.connect(app)
    if greeting["state"].value == "foreground":
        # The user is here: the next refresh may come as soon as it is worth it.
        await submit(daemon, after=0)
    while True:
        await daemon.end()
        await daemon.reconnect(app)


asyncio.run(main())
