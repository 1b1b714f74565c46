"""What the demo says: headings, commands with their output, and what was proven and how."""

import os
import shutil
import sys
import textwrap
import time


class NotProven(Exception):
    """Something that had to happen did not."""


class Narrator:
    def __init__(self):
        self.proofs = []
        self.begun = time.monotonic()
        self._colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self._width = min(shutil.get_terminal_size((100, 24)).columns, 100)
        self._steps = 0
        sys.stdout.reconfigure(errors="replace", line_buffering=True)

    def heading(self, text):
        self._steps += 1
        print("\n" + self._styled(f"── {self._steps}. {text} ", "1"))

    def say(self, text):
        print(self._wrapped(text))

    def block(self, text, indent="    "):
        for line in text.rstrip("\n").split("\n"):
            print((indent + line).rstrip())

    def command(self, line, output):
        print(self._styled(f"  $ {line}", "1"))
        if output.strip():
            self.block(output)

    def prove(self, claim, holds, evidence):
        """Counts `claim` as proven if it `holds`; `evidence` is what was looked at."""
        if not holds:
            raise NotProven(f"{claim}: {evidence}")
        self.proofs.append((claim, evidence))
        print(self._styled(f"  ✓ {claim}", "32"))
        print(self._wrapped(evidence, "    "))

    def summary(self):
        print("\n" + self._styled("── What was seen, and where", "1"))
        for claim, _ in self.proofs:
            print(f"  ✓ {claim}")
        took = time.monotonic() - self.begun
        self.say(
            f"{len(self.proofs)} of {len(self.proofs)}, in {took:.0f} s; judged by nginx's access "
            "log, the files that the programs wrote and the process table."
        )

    def failed(self, reason):
        sys.stdout.flush()
        print(self._styled(f"\n✗ {reason}", "31"), file=sys.stderr)

    def _wrapped(self, text, indent=""):
        return textwrap.fill(
            " ".join(text.split()),
            self._width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _styled(self, text, code):
        return f"\033[{code}m{text}\033[0m" if self._colours else text
