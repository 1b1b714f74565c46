"""newsboat, which knows nothing of Offstage, is kept fresh by it."""

import os
import sqlite3
import time

from offstage import SETTINGS
from processes import Process, boot_clock, wait_until
from terminal import Terminal
from web import Feed


class NewsboatScenes:
    def __init__(self, scratch, server, offstage, narrator):
        self._scratch, self._server = scratch, server
        self._offstage, self._narrator = offstage, narrator
        self.harbour = Feed(server, "harbour", "Harbour Bulletin")
        self.weather = Feed(server, "weather", "Weather at Sea")
        self.glacier = Feed(server, "glacier", "Glacier Monthly")

    def prepare(self):
        self.harbour.publish("Ferry resumes service")
        self.harbour.publish("Crane repaired")
        self.weather.publish("Calm until Thursday")
        self.glacier.publish("Moved by an inch", "It takes its time. " * 2000)
        self._subscribe(self.harbour, self.weather)

    # What the programs left behind.

    def articles(self):
        """Headlines in newsboat's own database."""
        path = f"{self._scratch.home}/.newsboat/cache.db"
        try:
            # Without a lock: newsboat gives up what it wanted to write when it meets one.
            database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
            try:
                return {title for (title,) in database.execute("select title from rss_item")}
            finally:
                database.close()
        except sqlite3.DatabaseError:
            return set()

    def fetched(self, feed, status, after):
        """The first answer of that status to newsboat from the request `after` on."""
        for request in self._server.requests(after):
            if request.path == feed.path and request.status == status:
                return request
        return None

    # Scenes.

    def first_refresh(self):
        self._narrator.heading("newsboat is refreshed, and nobody told it to")
        self._narrator.say(
            "The desktop entry of newsboat has a group [X-Offstage]; the daemon has just read it."
        )
        self._narrator.block(self._scratch.read("applications/newsboat.desktop"))
        titles = {"Ferry resumes service", "Crane repaired", "Calm until Thursday"}
        wait_until(lambda: titles <= self.articles(), "newsboat has the articles")
        self._narrator.prove(
            "newsboat was run and has fetched its feeds",
            self.fetched(self.harbour, 200, 0) and self.fetched(self.weather, 200, 0),
            f"nginx: {self._server.requests()[0].line}; {len(titles)} articles in newsboat's "
            "cache.db",
        )

    def new_article(self):
        self._narrator.heading("Something new, and then nothing new")
        self._wait_until_quiet()
        before = self._server.count()
        self.harbour.publish("Lighthouse lit again", "After eleven years its lamp burns.")
        self._narrator.say("The harbour publishes an article: Lighthouse lit again.")
        wait_until(lambda: "Lighthouse lit again" in self.articles(), "newsboat has the article")
        self._narrator.prove(
            "the next refresh brought the article",
            self.fetched(self.harbour, 200, before),
            f"nginx: {self.fetched(self.harbour, 200, before).line}; it is in newsboat's cache.db",
        )
        # newsboat asks once more for the whole feed before it trusts the server's dates.
        before = self._server.count()
        articles = self.articles()
        wait_until(lambda: self._unchanged_round(before), "a fetch finds nothing new")
        self._wait_until_quiet()
        self._narrator.prove(
            "a fetch with nothing new changed nothing",
            self.articles() == articles,
            f"nginx: {self.fetched(self.harbour, 304, before).line}; still {len(articles)} "
            "articles",
        )
        self._offstage.do("history", "newsboat")

    def _unchanged_round(self, after):
        return self.fetched(self.harbour, 304, after) and self.fetched(self.weather, 304, after)

    def opened_by_the_user(self):
        self._narrator.heading("You open newsboat, and it is fresh")
        self._narrator.say(
            "'offstage open newsboat' in a terminal becomes newsboat; the keys are pressed as a "
            "user would press them."
        )
        self._wait_until_quiet()
        before = self._server.count()
        terminal = Terminal(
            [f"{self._offstage.programs}/offstage", "open", "newsboat"],
            self._offstage.environment,
        )
        try:
            terminal.wait_for(self.harbour.title)
            terminal.press("\n")
            terminal.wait_for("Lighthouse lit again")
            self._frame(terminal.screen.text())
            user = Process(terminal.pid)
            self._narrator.prove(
                "newsboat runs in the terminal, in the place of the command",
                user.name == "newsboat" and user.terminal != 0,
                f"/proc/{user.pid}: {' '.join(user.arguments)}, with a terminal of its own",
            )
            self._offstage.explain("newsboat", "app-in-foreground")
            terminal.press("q")
            terminal.wait_for(self.weather.title)
            terminal.press("q")
            status = terminal.wait_for_end()
        finally:
            terminal.close()
        self._narrator.prove(
            "its first screen had the article, without asking any server; q ended it",
            status == 0 and self._server.count() == before,
            f"exit status {status}; nginx saw {self._server.count() - before} requests meanwhile",
        )

    def server_down(self):
        self._narrator.heading("The server is down")
        self._wait_until_quiet()
        failures = len(self._failures())
        before = self._server.count()
        self._server.stop()
        self._narrator.say(
            "nginx has been ended. newsboat will exit with 0 all the same; FailedFrom= asks its "
            "error log, and the setting failure-command tells somebody:"
        )
        wait_until(lambda: len(self._failures()) > failures, "the failure was told")
        told = boot_clock()
        errors = self._scratch.read("home/.newsboat/errors.seen").strip()
        self._narrator.prove(
            "a fetch against a server that is down counts as failed",
            self.harbour.url in errors and self._server.count() == before,
            f"newsboat's error log: {errors.splitlines()[-1]}; failure-command wrote: "
            f"{self._failures()[-1]}",
        )
        self._offstage.do("status")
        self._offstage.explain("newsboat", "back-off")
        self._server.start()
        self._narrator.say("nginx is back. The next try comes when the back-off is over.")
        wait_until(lambda: self._server.count() > before, "newsboat asks again")
        waited = boot_clock() - told
        limit = float(SETTINGS["back-off"].rstrip("s"))
        self._narrator.prove(
            "it was left in peace for the back-off, and then refreshed",
            # The failure was told a moment after the back-off had begun.
            waited > limit - 2,
            f"nginx: {self._server.requests(before)[0].line}, {waited:.1f} s after the failure",
        )

    def too_slow(self):
        self._narrator.heading("A refresh that takes too long")
        self._wait_until_quiet()
        failures = len(self._failures())
        before = self._server.count()
        self._subscribe(self.harbour, self.weather, self.glacier)
        grant = float(SETTINGS["wake-grant"].rstrip("s"))
        self._narrator.say(
            f"One feed more, from a server that sends 50 bytes a second. A refresh has {grant:.0f} "
            "s, and 5 s before the end newsboat is asked to stop (SIGTERM)."
        )
        reloads = lambda: self._scratch.programs("newsboat", "-x", "reload")
        slow = wait_until(reloads, "newsboat runs")[0]
        wait_until(lambda: not slow.is_alive, "its time is over", limit=grant + 60)
        lived = boot_clock() - slow.begun
        cut = wait_until(
            lambda: self.fetched(self.glacier, 200, before), "nginx notices that it is gone"
        )
        self._subscribe(self.harbour, self.weather)
        size = os.path.getsize(self.glacier.file)
        self._narrator.prove(
            "newsboat was stopped in the middle of the download",
            not cut.is_complete and cut.bytes < size and grant - 6 < lived < grant + 2,
            f"process {slow.pid} lived {lived:.1f} s; nginx: {cut.line}: {cut.bytes} bytes of "
            f"{size}",
        )
        told = wait_until(lambda: self._failures()[failures:], "the reason was told")
        self._narrator.prove(
            "the reason was told, once",
            told == ["newsboat: expired: its time was over"],
            f"failure-command wrote: {told}",
        )
        self._offstage.do("history", "newsboat", "--lines", "3")

    def still_fresh(self, after):
        """Since the request of that number newsboat was refreshed as ever."""
        now = time.time()
        wait_until(
            lambda: self._server.requests()[-1].time > now,
            "newsboat is refreshed again",
        )
        rounds = sum(request.path == self.harbour.path for request in self._server.requests(after))
        self._narrator.prove(
            "newsboat was refreshed all the time, and still is",
            rounds >= 2,
            f"nginx saw {rounds} rounds of it since the backup began to wait",
        )

    # Details.

    def _subscribe(self, *feeds):
        urls = "".join(feed.url + "\n" for feed in feeds)
        self._scratch.write("home/.newsboat/urls", urls)

    def _failures(self):
        return self._scratch.read("failures").splitlines()

    def _wait_until_quiet(self):
        """Until a refresh, with what belongs to it, has just ended."""
        before = self._server.count()
        wait_until(lambda: self._server.count() > before, "the next refresh")
        wait_until(self._is_quiet, "that refresh is over")

    def _is_quiet(self):
        end = boot_clock() + 0.4
        while boot_clock() < end:
            if self._scratch.programs("newsboat"):
                return False
        return True

    def _frame(self, text):
        lines = text.split("\n")
        width = max(len(line) for line in lines)
        rows = [f"│ {line.ljust(width)} │" for line in lines]
        bar = "─" * (width + 2)
        self._narrator.block("\n".join([f"┌{bar}┐", *rows, f"└{bar}┘"]))
