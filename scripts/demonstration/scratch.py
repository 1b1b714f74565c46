"""The directory in which everything happens, and the files that a user would have written."""

import os
import shutil
import tempfile

from processes import find

NEWSBOAT = """\
[Desktop Entry]
Type=Application
Name=Newsboat
Exec=newsboat
Terminal=true

[X-Offstage]
BackgroundModes=fetch;
RefreshCommand=newsboat -x reload
NewDataFrom=command:newsboat -x print-unread
FailedFrom=command:~/.newsboat/failed
"""

NEWSBOAT_CONFIGURATION = """\
error-log "{home}/.newsboat/errors"
download-timeout 60
download-retries 1
show-read-feeds yes
"""

NEWSBOAT_FAILED = """\
#!/bin/sh
# newsboat ends with 0 even when no server answered. What went wrong is in its error log.
cd ~/.newsboat && test -s errors || exit 0
cat errors >>errors.seen && rm errors
exit 1
"""

BACKUP = """\
[Desktop Entry]
Type=Application
Name=Backup
Exec=restic snapshots
Terminal=true
NoDisplay=true

[X-Offstage]
BackgroundModes=processing;
ProcessingCommand=restic backup --limit-upload {pace} --pack-size 4 ~/Documents
ProcessingNeeds=power;
WhenInterrupted=freeze
Environment=RESTIC_REPOSITORY={root}/repository;RESTIC_PASSWORD_FILE={home}/.restic;
"""

FAILURE_COMMAND = """\
#!/bin/sh
# What people have cron's mail for: the setting failure-command runs this.
echo "$OFFSTAGE_APP: $OFFSTAGE_REASON" >>"{root}/failures"
"""

# KiB a second, and of how many bytes: a backup of about half a minute.
PACE = 2048
FILES, FILE_BYTES = 8, 8 << 20


class Scratch:
    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="offstage-demo-", dir="/tmp")
        self.home = f"{self.root}/home"

    def write_user_files(self):
        """Programs' own settings, manifests, and something to back up."""
        values = {"root": self.root, "home": self.home, "pace": PACE}
        self.write("home/.newsboat/config", NEWSBOAT_CONFIGURATION.format(**values))
        self.write("home/.newsboat/failed", NEWSBOAT_FAILED, mode=0o755)
        self.write("home/.restic", "a password for the demo\n", mode=0o600)
        self.write("applications/newsboat.desktop", NEWSBOAT)
        self.write("applications/backup.desktop", BACKUP.format(**values))
        self.write("tell-failure", FAILURE_COMMAND.format(**values), mode=0o755)
        os.makedirs(f"{self.home}/Documents")
        for number in range(FILES):
            with open(f"{self.home}/Documents/photo-{number}.raw", "wb") as file:
                file.write(os.urandom(FILE_BYTES))

    def write(self, name, text, mode=0o644):
        path = f"{self.root}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def read(self, name):
        """Empty if there is no such file."""
        try:
            with open(f"{self.root}/{name}", encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def programs(self, *arguments):
        """Living processes of ours that were started with these words."""

        def matches(process):
            words = process.arguments
            words[0] = os.path.basename(words[0])
            return (
                words[: len(arguments)] == list(arguments)
                and process.environment.get("HOME") == self.home
            )

        return find(matches)

    def group_name(self):
        """What the daemon called the control groups of its apps; empty if it made none."""
        lines = self.read("state/launches/step").splitlines()
        return os.path.basename(lines[1]) if len(lines) > 1 else ""

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)
