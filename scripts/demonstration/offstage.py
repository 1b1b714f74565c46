"""The daemon of the demo, its settings, and the command line that speaks with it."""

import json
import os
import shlex
import signal
import subprocess

from narrator import NotProven
from processes import Process, boot_clock, expect_orphans_of, wait_until

# Only times are shortened, and every moment is a good one. Nothing else differs from a real run.
SETTINGS = {
    "minimum-refresh-interval": "6s",
    "refreshes-per-day": "28800",
    "waking-from": "00:00",
    "waking-until": "24:00",
    "shared-wake": "0s",
    "wake-grant": "12s",
    "back-off": "10s",
    "launch-spacing": "1s",
    "pause-after-boot": "0s",
    "pause-after-start": "1s",
    "failures-before-command": "1",
}

# What a sensor would say; played by hand, so that the demo is the same on every machine.
CONDITIONS = {
    "network": "on",
    "metered": "off",
    "idle": "on",
    "battery": "80",
    "low-power": "off",
    "thermal": "nominal",
    "memory": "normal",
}


class Offstage:
    def __init__(self, scratch, programs, narrator):
        self._scratch, self.programs, self._narrator = scratch, programs, narrator
        self._process = None
        self.environment = {
            "HOME": scratch.home,
            "PATH": f"{programs}:{os.environ.get('PATH', '/usr/bin:/bin')}:/usr/sbin",
            "LANG": "C.UTF-8",
            "OFFSTAGE_SOCKET": self.socket,
        }

    @property
    def socket(self):
        return f"{self._scratch.root}/run/socket"

    @property
    def pid(self):
        return self._process.pid

    def start(self):
        """Returns when the daemon answers."""
        root = self._scratch.root
        with open(f"{root}/daemon.log", "a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [
                    f"{self.programs}/offstaged",
                    *("--state", f"{root}/state", "--runtime", f"{root}/run"),
                    *("--config", f"{root}/offstage.conf", "--data", root),
                ],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until(self._answers, "the daemon answers")

    def _answers(self):
        if self._process.poll() is not None:
            with open(f"{self._scratch.root}/daemon.log", encoding="utf-8") as log:
                raise NotProven(f"the daemon has ended: {log.read()[-500:]}")
        return self._run("status").returncode == 0

    def kill(self):
        """SIGKILL: it has no time to say anything to anybody."""
        expect_orphans_of(self.pid)
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self):
        """Ends the daemon and, before that, all that it runs."""
        if self._process is None or self._process.poll() is not None:
            return
        for app in ("newsboat", "backup", "feedreader"):
            self._run("close", app)
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def do(self, *arguments):
        """Runs a command that has to succeed, shows it with its output; returns when it began and
        ended on the boot clock."""
        begun = boot_clock()
        answer = self._run(*arguments)
        ended = boot_clock()
        line = shlex.join(("offstage",) + arguments)
        self._narrator.command(line, answer.stdout + answer.stderr)
        if answer.returncode != 0:
            raise NotProven(f"'{line}' ended with {answer.returncode}")
        return begun, ended

    def ask(self, *arguments):
        """What a command prints, without showing it; empty if it fails."""
        return self._run(*arguments).stdout

    def explain(self, app, gate):
        """Shows why `app` waits; it is an explanation only if it names the `gate`."""
        self.do("explain", app)
        tasks = json.loads(self._run("explain", "--json", app).stdout)
        names = [hold["gate"] for task in tasks for hold in task["holds"]]
        self._narrator.prove(
            f"{app} is explained to be held by: {gate}",
            gate in names,
            f"offstage explain --json names {', '.join(names) or 'no gate'}",
        )

    def report(self):
        """All that may tell why something did not happen."""
        for arguments in (("status",), ("explain", "newsboat"), ("history",), ("doctor",)):
            answer = self._run(*arguments)
            line = " ".join(("offstage",) + arguments)
            self._narrator.command(line, answer.stdout + answer.stderr)
        self._narrator.block(self._scratch.read("daemon.log"))

    def usual(self):
        """The values that settings have when nobody sets them."""
        report = json.loads(self._run("settings", "--defaults", "--json").stdout)
        return {row["setting"]: row["default"] for row in report}

    def _run(self, *arguments):
        return subprocess.run(
            [f"{self.programs}/offstage", *arguments],
            env=self.environment,
            cwd=self._scratch.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
