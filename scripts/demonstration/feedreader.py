"""FeedReader, an app that links the library: opened, left, suspended, woken, suspended again."""

import sqlite3
import time

from processes import wait_until
from web import Feed

MANIFEST = """\
[Desktop Entry]
Type=Application
Name=Feed Reader
Exec={programs}/feedreader
NoDisplay=true

[X-Offstage]
BackgroundModes=fetch;processing;
PermittedTaskIdentifiers=org.offstage.feedreader.refresh;org.offstage.feedreader.cleaning;
Environment=FEEDREADER_INTERVAL=6;
"""


class FeedReaderScenes:
    def __init__(self, scratch, server, offstage, narrator):
        self._scratch, self._server = scratch, server
        self._offstage, self._narrator = offstage, narrator
        self._island = Feed(server, "island", "Island Post")
        self._manifest = MANIFEST.format(programs=offstage.programs)

    def prepare(self):
        self._island.publish("Goats back on the cliff")
        self._scratch.write("home/.local/share/feedreader/feeds", self._island.url + "\n")
        self._scratch.write("applications/feedreader.desktop", self._manifest)

    # What the program left behind.

    def _posts(self):
        """Titles in its own database, each with whether it is new."""
        path = f"{self._scratch.home}/.local/share/feedreader/posts.db"
        try:
            database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)
            try:
                return dict(database.execute("select title, isNew from post"))
            finally:
                database.close()
        except sqlite3.OperationalError:
            return {}

    def _running(self):
        return self._scratch.programs("feedreader")

    def _fetched(self, after):
        for request in self._server.requests(after, by="feedreader"):
            if request.path == self._island.path:
                return request
        return None

    # Scenes.

    def opened_and_left(self):
        self._narrator.heading("An app that links the library is opened, and left")
        self._narrator.say(
            "Examples/FeedReader calls what an iOS app calls: BGTaskScheduler, UIApplication. Its "
            "manifest:"
        )
        self._narrator.block(self._manifest)
        self._offstage.do("open", "feedreader")
        self._app = wait_until(self._running, "the app runs")[0]
        wait_until(lambda: self._posts().get("Goats back on the cliff") == 0, "it was read")
        self._offstage.do("logs", "feedreader")
        self._offstage.do("leave", "feedreader")
        words = wait_until(self._app.frozen, "the app is suspended")
        ticks = self._app.processor_ticks
        # To see that nothing happens there is nothing to wait for.
        time.sleep(1)
        self._narrator.prove(
            "left, it is suspended: it is there, and uses nothing",
            self._app.is_alive and self._app.frozen() and self._app.processor_ticks == ticks,
            f"{words}; process {self._app.pid}, in 1 s no processor time",
        )

    def woken(self):
        self._narrator.heading("It is woken when the scheduler thinks fit, and nobody opens it")
        before = self._server.count(by="feedreader")
        self._island.publish("Second goat found")
        self._narrator.say("The island publishes: Second goat found.")
        wait_until(lambda: "Second goat found" in self._posts(), "the app has the post")
        fetched = wait_until(lambda: self._fetched(before), "nginx has logged the request")
        self._narrator.prove(
            "the scheduler woke it, and it fetched the post",
            self._app.is_alive and len(self._running()) == 1,
            f"nginx: {fetched.line}; it is in posts.db, by the process of before, {self._app.pid}",
        )
        self._narrator.prove(
            "the post is marked new, the older one is not",
            self._posts() == {"Goats back on the cliff": 0, "Second goat found": 1},
            f"posts.db says {self._posts()}",
        )
        words = wait_until(self._app.frozen, "the app is suspended again")
        self._narrator.prove("done, it is suspended again", True, words)
        self._offstage.do("history", "feedreader")
        self._offstage.do("explain", "feedreader")
