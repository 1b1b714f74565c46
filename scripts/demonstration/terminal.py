"""A terminal of our own, so that a program can be used as a person would use it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from narrator import NotProven

ROWS, COLUMNS = 10, 72


class Screen:
    """What a VT100 would show; of its language, the part that full-screen programs use."""

    _SEQUENCE = re.compile(r"\033(?:\[([?0-9;]*)([@-~])|[()][A-Za-z0-9]|[=>78MDE])")

    def __init__(self):
        self._cells = [[" "] * COLUMNS for _ in range(ROWS)]
        self._row = self._column = 0
        self._rest = ""

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self._cells).rstrip()

    def feed(self, text):
        text = self._rest + text
        place = 0
        while place < len(text):
            if text[place] == "\033":
                found = self._SEQUENCE.match(text, place)
                if not found:
                    if len(text) - place < 16:
                        break
                    place += 1
                    continue
                self._perform(found[0], found[1], found[2])
                place = found.end()
            else:
                self._put(text[place])
                place += 1
        self._rest = text[place:]

    def _put(self, letter):
        if letter == "\r":
            self._column = 0
        elif letter == "\n":
            self._down()
        elif letter == "\b":
            self._column = max(0, self._column - 1)
        elif letter >= " ":
            if self._column >= COLUMNS:
                self._column = 0
                self._down()
            self._cells[self._row][self._column] = letter
            self._column += 1

    def _down(self):
        if self._row == ROWS - 1:
            self._cells = self._cells[1:] + [[" "] * COLUMNS]
        else:
            self._row += 1

    def _perform(self, sequence, parameters, final):
        if final is None or "?" in parameters:
            return
        numbers = [int(number or 0) for number in parameters.split(";")]
        many = max(1, numbers[0])
        if final in "Hf":
            self._row = min(max(numbers[0], 1), ROWS) - 1
            self._column = min(max((numbers + [1])[1], 1), COLUMNS) - 1
        elif final == "A":
            self._row = max(0, self._row - many)
        elif final == "B":
            self._row = min(ROWS - 1, self._row + many)
        elif final == "C":
            self._column = min(COLUMNS - 1, self._column + many)
        elif final == "D":
            self._column = max(0, self._column - many)
        elif final == "K":
            begin, end = [(self._column, COLUMNS), (0, self._column + 1), (0, COLUMNS)][numbers[0]]
            self._cells[self._row][begin:end] = [" "] * (end - begin)
        elif final == "J":
            self._perform("", parameters, "K")
            rows = [range(self._row + 1, ROWS), range(self._row), range(ROWS)][numbers[0]]
            for row in rows:
                self._cells[row] = [" "] * COLUMNS


class Terminal:
    """A command that runs in a terminal of its own."""

    def __init__(self, arguments, environment):
        self.screen = Screen()
        self.status = None
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            try:
                # Before the program asks how large its terminal is.
                size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
                fcntl.ioctl(0, termios.TIOCSWINSZ, size)
                os.execve(arguments[0], arguments, {**environment, "TERM": "vt100"})
            finally:
                os._exit(127)

    def wait_for(self, text, limit=60.0):
        """Until the screen shows `text`."""
        end = time.monotonic() + limit
        while text not in self.screen.text():
            if not self._read(0.1) or time.monotonic() > end:
                raise NotProven(f"the terminal does not show {text!r}:\n{self.screen.text()}")

    def press(self, keys):
        os.write(self._terminal, keys.encode())

    def wait_for_end(self, limit=60.0):
        """The exit status."""
        end = time.monotonic() + limit
        while self.status is None:
            self._read(0.1)
            if time.monotonic() > end:
                raise NotProven(f"the program does not end:\n{self.screen.text()}")
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self._terminal)

    def _read(self, seconds):
        """What the program wrote goes to the screen; False: the program has ended."""
        if select.select([self._terminal], [], [], seconds)[0]:
            try:
                self.screen.feed(os.read(self._terminal, 65536).decode("utf-8", "replace"))
                return True
            except OSError:
                # Nobody has the other end open any more.
                time.sleep(0.02)
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is None
