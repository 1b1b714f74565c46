"""make demo: see README.md. Ends with 0 only if all that it shows has really happened."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time

import processes
from backup import BackupScenes
from download import DownloadScenes
from feedreader import FeedReaderScenes
from narrator import Narrator, NotProven
from newsboat import NewsboatScenes
from offstage import CONDITIONS, SETTINGS, Offstage
from scratch import Scratch
from web import WebServer


class Demonstration:
    def __init__(self, programs):
        self.narrator = Narrator()
        self.scratch = Scratch()
        self.server = WebServer(f"{self.scratch.root}/web")
        self.offstage = Offstage(self.scratch, programs, self.narrator)
        self.newsboat = NewsboatScenes(
            self.scratch, self.server, self.offstage, self.narrator
        )
        self.feedreader = FeedReaderScenes(
            self.scratch, self.server, self.offstage, self.narrator
        )
        self.backup = BackupScenes(self.scratch, self.offstage, self.narrator)
        self.download = DownloadScenes(
            self.scratch, self.server, self.offstage, self.narrator
        )

    def run(self):
        self._prepare()
        self.newsboat.first_refresh()
        self.newsboat.new_article()
        self.newsboat.opened_by_the_user()
        self.newsboat.server_down()
        self.newsboat.too_slow()
        self.feedreader.opened_and_left()
        self.feedreader.woken()
        before = self.server.count()
        self.backup.waits_for_the_charger()
        self.backup.unplugged()
        self.backup.daemon_killed()
        self.backup.nothing_lost()
        self.download.network_process_killed()
        self.download.daemon_killed_and_file_changed()
        self.newsboat.still_fresh(before)
        self.narrator.summary()

    def _prepare(self):
        self.narrator.heading("Everything in a scratch directory")
        self.server.start()
        self.scratch.write_user_files()
        self.newsboat.prepare()
        self.feedreader.prepare()
        self.backup.prepare()
        self.download.prepare()
        settings = {**SETTINGS, "failure-command": f"{self.scratch.root}/tell-failure"}
        lines = [f"{name}={value}" for name, value in settings.items()]
        self.scratch.write("offstage.conf", "\n".join(lines) + "\n")
        self.narrator.say(
            f"{self.scratch.root} holds a home directory, nginx on {self.server.address} with RSS "
            "feeds, a restic repository, and the state of a daemon. So that nobody has to wait "
            "for hours, offstage.conf there sets:"
        )
        usual = self.offstage.usual()
        for name, value in settings.items():
            instead = f"(usually {usual[name] or 'none'})"
            self.narrator.block(f"{name}={value}".ljust(32) + " " + instead)
        self.offstage.start()
        self.narrator.say("And these sensors are played by hand, the charger first:")
        self.offstage.do("set", "power", "off")
        for name, value in CONDITIONS.items():
            self.offstage.do("set", name, value)

    def stay(self):
        """Goes on until Ctrl-C, with something new now and then."""
        self.narrator.heading("Your turn")
        self.narrator.say("All of it goes on until Ctrl-C. In another terminal:")
        self.narrator.block(
            f"export OFFSTAGE_SOCKET={self.offstage.socket} HOME={self.scratch.home}\n"
            f'export PATH="{self.offstage.programs}:$PATH"\n'
            "offstage status                  # what runs, waits and fails\n"
            "offstage open newsboat           # its articles are there; q leaves\n"
            "offstage open feedreader         # what it has fetched is marked\n"
            "offstage leave feedreader\n"
            "offstage set battery 15          # nearly empty: what is held back now?\n"
            "offstage explain newsboat\n"
            "offstage set battery 80\n"
            "offstage run backup              # now, although it is not due until tomorrow\n"
            "offstage set power off           # and freeze it\n"
            "offstage history\n"
            "offstage submit --refresh --every 20s --id hello -- date\n"
            "offstage logs command.hello\n"
            f"tail -f {self.server.root}/access.log"
        )
        number = 0
        while True:
            time.sleep(20)
            number += 1
            self.newsboat.harbour.publish(f"Ship number {number} has come in")

    def end(self):
        """Ends all that was started, whatever state it is in, and leaves nothing behind."""
        self.offstage.stop()
        self.server.stop()
        processes.end_descendants()
        if name := self.scratch.group_name():
            processes.remove_groups(name)
        self.scratch.remove()


def interrupted(signal_number, frame):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="end by itself")
    parser.add_argument("--programs", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, interrupted)
    processes.become_subreaper()
    demonstration = Demonstration(os.path.abspath(options.programs))
    has_passed = False
    try:
        demonstration.run()
        has_passed = True
        if not options.once:
            demonstration.stay()
    except KeyboardInterrupt:
        print()
    except (NotProven, subprocess.CalledProcessError, OSError) as error:
        demonstration.offstage.report()
        demonstration.narrator.failed(str(error))
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        demonstration.end()
    return 0 if has_passed else 1


sys.exit(main())
