"""A download that outlives its processes, and a file that changes on the server meanwhile."""

import hashlib
import json
import os
import signal

from processes import find, wait_until

SIZE = 24 << 20
# What the daemon has stored by then is gone on with.
HALF = 12 << 20


class DownloadScenes:
    def __init__(self, scratch, server, offstage, narrator):
        self._scratch, self._server = scratch, server
        self._offstage, self._narrator = offstage, narrator
        self._path = "/charts/north.img"
        self._file = f"{scratch.home}/north.img"
        self._first = self._second = b""

    def prepare(self):
        self._first, self._second = os.urandom(SIZE), os.urandom(SIZE)
        self._publish(self._first)

    def _publish(self, content):
        path = f"{self._server.root}/feeds{self._path}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "wb") as file:
            file.write(content)
        os.rename(path + ".new", path)

    # What the programs left behind.

    def _network(self):
        """The process that talks to servers; None: there is none."""
        found = find(
            lambda process: process.name == "offstage-net"
            and process.parent == self._offstage.pid
        )
        return found[0] if found else None

    def _other_than(self, first):
        found = self._network()
        return found if found and found.pid != first.pid else None

    def _transfer(self):
        return json.loads(self._offstage.ask("transfers", "--json"))[-1]

    def _wait_for(self, size):
        wait_until(lambda: self._transfer()["received"] >= size, f"{size >> 20} MiB are there")

    def _requests(self):
        return [
            request
            for request in self._server.requests(by="offstage")
            if request.path == self._path
        ]

    # Scenes.

    def network_process_killed(self):
        self._narrator.heading("A download, and the process that fetches it is killed")
        self._offstage.do("download", self._server.address + self._path)
        self._wait_for(HALF)
        first = wait_until(self._network, "a process fetches it")
        os.kill(first.pid, signal.SIGKILL)
        self._narrator.say(f"kill -9 {first.pid}, the process that talks to servers.")
        second = wait_until(lambda: self._other_than(first), "another one fetches it")
        wait_until(lambda: self._transfer()["state"] == "running", "it goes on")
        self._offstage.do("transfers")
        self._narrator.prove(
            "another process was started and goes on",
            second.pid != first.pid,
            f"offstage-net is process {second.pid} now; {self._transfer()['received'] >> 20} MiB "
            "are there",
        )

    def daemon_killed_and_file_changed(self):
        self._narrator.heading("The daemon is killed too, and the file changes on the server")
        self._wait_for(HALF + (4 << 20))
        network = self._network()
        self._offstage.kill()
        wait_until(lambda: not network.is_alive, "its network process has ended")
        self._publish(self._second)
        self._narrator.say(
            "Nothing of Offstage runs. The server now has another file of the same name and size."
        )
        self._offstage.start()
        ended = wait_until(
            lambda: self._transfer() if self._transfer().get("ended") else None,
            "the download is done",
        )
        self._offstage.do("transfers")
        with open(self._file, "rb") as file:
            content = file.read()
        self._narrator.prove(
            "the file is the one that the server has now, and none of the old one is in it",
            ended["state"] == "finished" and content == self._second,
            f"SHA-256 {hashlib.sha256(content).hexdigest()[:16]}… is that of the new file; the "
            f"old one had {hashlib.sha256(self._first).hexdigest()[:16]}…",
        )
        requests = self._requests()
        statuses = [request.status for request in requests]
        self._narrator.prove(
            "what was there was gone on with while the file was the same, and only then",
            statuses == [200, 206, 200] and requests[1].bytes < SIZE - (HALF >> 1)
            and requests[2].is_complete,
            f"nginx answered 200, then 206 with {requests[1].bytes >> 20} MiB, then 200 with all "
            f"of the new file",
        )
        left = [name for name in os.listdir(self._scratch.home) if name.endswith(".part")]
        self._narrator.prove(
            "nothing else is left of it", not left, "no partial file in the home directory"
        )
