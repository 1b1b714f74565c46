"""A restic backup that runs on the charger only, and a daemon that is killed meanwhile."""

import filecmp
import json
import os
import subprocess
import time

from processes import boot_clock, wait_until
from scratch import FILES


class BackupScenes:
    def __init__(self, scratch, offstage, narrator):
        self._scratch, self._offstage, self._narrator = scratch, offstage, narrator
        self._repository = f"{scratch.root}/repository"
        self._backup = None
        self._seen = set()

    def prepare(self):
        self._restic("init")

    # What the programs left behind.

    def written(self):
        """Bytes in the repository."""
        total = 0
        for directory, _, names in os.walk(self._repository):
            for name in names:
                try:
                    total += os.path.getsize(f"{directory}/{name}")
                except FileNotFoundError:
                    pass
        return total

    def _running(self):
        found = self._scratch.programs("restic", "backup")
        self._seen.update((process.pid, process.start) for process in found)
        return found

    # Scenes.

    def waits_for_the_charger(self):
        self._narrator.heading("A backup waits for the charger")
        self._narrator.block(self._scratch.read("applications/backup.desktop"))
        self._offstage.explain("backup", "external-power")
        self._narrator.prove(
            "nothing of it has run",
            not self._running() and not os.listdir(f"{self._repository}/snapshots"),
            "no restic in the process table, no snapshot in the repository",
        )
        self._narrator.say("The charger is plugged in.")
        self._offstage.do("set", "power", "on")
        self._backup = wait_until(self._running, "restic runs")[0]
        self._wait_for_progress()
        self._narrator.prove(
            "the backup runs",
            self._backup.is_alive,
            f"process {self._backup.pid}: {' '.join(self._backup.arguments)}; "
            f"{self._megabytes()} in its repository, and growing",
        )

    def unplugged(self):
        self._narrator.heading("The plug is pulled")
        self._pull_the_plug("the backup is frozen within a second")
        ticks, bytes_before = self._backup.processor_ticks, self.written()
        # To see that nothing happens there is nothing to wait for.
        time.sleep(1.5)
        self._narrator.prove(
            "it stands still",
            self._backup.processor_ticks == ticks and self.written() == bytes_before,
            f"in 1.5 s no processor time, and still {self._megabytes()} in the repository",
        )
        self._offstage.explain("backup", "external-power")
        self._narrator.say("And plugged in again:")
        self._offstage.do("set", "power", "on")
        self._wait_for_progress()
        self._narrator.prove(
            "the same backup goes on where it was",
            self._backup.is_alive and not self._backup.frozen(),
            f"process {self._backup.pid} is the one of before; {self._megabytes()} by now",
        )

    def daemon_killed(self):
        self._narrator.heading("The daemon is killed with -9 in the middle of it")
        self._offstage.do(
            *("submit", "--refresh", "--after", "8s", "--id", "receipt", "--"),
            *("sh", "-c", f"date >>{self._scratch.root}/receipts"),
        )
        killed = self._offstage.pid
        self._offstage.kill()
        ended = boot_clock()
        self._narrator.say(
            f"kill -9 {killed}. The daemon had promised to run a command in 8 s and has not."
        )
        promised = not self._scratch.read("receipts")
        self._wait_for_progress()
        self._narrator.prove(
            "the backup went on without a daemon",
            promised and self._backup.is_alive and not self._daemons(),
            f"no offstaged is running; process {self._backup.pid} is, {self._megabytes()} by now",
        )
        self._offstage.start()
        self._narrator.say(
            f"A new daemon, {self._offstage.pid}, {boot_clock() - ended:.1f} s later. If it has "
            "adopted the backup, pulling the plug freezes it as before."
        )
        self._offstage.do("status")
        self._pull_the_plug("the new daemon has adopted it")
        self._offstage.do("set", "power", "on")
        wait_until(lambda: not self._running(), "the backup is done", limit=300)

    def nothing_lost(self):
        wait_until(lambda: self._scratch.read("receipts"), "the promised command has run")
        lines = self._scratch.read("receipts").splitlines()
        self._narrator.prove(
            "what the killed daemon had promised was done, once",
            len(lines) == 1,
            f"the command wrote: {lines}",
        )
        snapshots = json.loads(self._restic("snapshots", "--json"))
        self._restic("restore", "latest", "--target", f"{self._scratch.root}/restored")
        names = os.listdir(f"{self._scratch.home}/Documents")
        same, other, missing = filecmp.cmpfiles(
            f"{self._scratch.home}/Documents",
            f"{self._scratch.root}/restored{self._scratch.home}/Documents",
            names,
            shallow=False,
        )
        self._running()
        self._narrator.prove(
            "the backup was run once, and all of it is there",
            len(snapshots) == 1 and len(same) == FILES and not other and not missing
            and len(self._seen) == 1,
            f"one snapshot, from process {self._backup.pid} alone; restored, {len(same)} of "
            f"{len(names)} files are equal to the originals",
        )
        self._offstage.do("history", "backup")
        self._offstage.do("logs", "backup")

    # Details.

    def _pull_the_plug(self, claim):
        begun, ended = self._offstage.do("set", "power", "off")
        words = wait_until(self._backup.frozen, "the backup is frozen", limit=20)
        now = boot_clock()
        self._narrator.prove(
            claim,
            now - ended < 1 and self._backup.is_alive,
            f"{words}, process {self._backup.pid}, {(now - begun) * 1000:.0f} ms after the "
            "command began",
        )

    def _wait_for_progress(self):
        before = self.written()
        wait_until(lambda: self.written() > before + (1 << 20), "the backup gets on")

    def _daemons(self):
        return [
            process
            for process in self._scratch.programs("offstaged")
            if "--keeper" not in process.arguments
        ]

    def _megabytes(self):
        return f"{self.written() / (1 << 20):.1f} MiB"

    def _restic(self, *arguments):
        environment = {
            **self._offstage.environment,
            "RESTIC_REPOSITORY": self._repository,
            "RESTIC_PASSWORD_FILE": f"{self._scratch.home}/.restic",
        }
        return subprocess.run(
            ["restic", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
