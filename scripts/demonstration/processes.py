"""The process table, read from /proc, and what is frozen in it."""

import ctypes
import os
import signal
import time

from narrator import NotProven

TICKS = os.sysconf("SC_CLK_TCK")


def wait_until(condition, what, limit=90.0):
    """What `condition` answers once that is true; looks every 20 ms, gives up after `limit`."""
    end = time.monotonic() + limit
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise NotProven(f"waited {limit:.0f} s in vain until {what}")
        reap()
        time.sleep(0.02)


def become_subreaper():
    """Whatever descends from us and loses its parent becomes our child: we can end and reap it."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


_orphans = set()


def expect_orphans_of(parent):
    """To be called before `parent` is killed: its children will be ours, for `reap`."""
    _orphans.update(child.pid for child in find(lambda process: process.parent == parent))


def reap():
    """Collects those orphans that have ended."""
    for pid in list(_orphans):
        try:
            if os.waitpid(pid, os.WNOHANG)[0] == pid:
                _orphans.discard(pid)
        except ChildProcessError:
            pass


class Process:
    """A process as it is now; the start time tells it from a later one with the same pid."""

    def __init__(self, pid):
        self.pid = pid
        self.start = self._stat()[19]

    @property
    def is_alive(self):
        stat = self._stat(default=None)
        return stat is not None and stat[19] == self.start and stat[0] not in ("Z", "X")

    @property
    def arguments(self):
        return self._read("cmdline").rstrip("\0").split("\0")

    @property
    def name(self):
        return self._read("comm").rstrip("\n")

    @property
    def environment(self):
        pairs = (entry.partition("=") for entry in self._read("environ").split("\0"))
        return {name: value for name, _, value in pairs}

    @property
    def parent(self):
        return int(self._stat()[1])

    @property
    def terminal(self):
        return int(self._stat()[4])

    @property
    def begun(self):
        """Seconds on the boot clock."""
        return int(self.start) / TICKS

    @property
    def processor_ticks(self):
        stat = self._stat()
        return int(stat[11]) + int(stat[12])

    def cgroups(self):
        """Directories of its control groups, by controller; "" is version 2."""
        found = {}
        for line in self._read("cgroup").splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                if controller in _mounts():
                    root, point = _mounts()[controller]
                    below = path.removeprefix(root.rstrip("/")).rstrip("/")
                    found[controller] = point + below
        return found

    def frozen(self):
        """What says that it is frozen, in words; None: it is not."""
        groups = self.cgroups()
        second = groups.get("", "")
        if "frozen 1" in _text(second + "/cgroup.events").splitlines():
            return f"{second}/cgroup.events says frozen 1"
        first = groups.get("freezer", "")
        if _text(first + "/freezer.state").strip() == "FROZEN":
            return f"{first}/freezer.state says FROZEN"
        states = set()
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            stat = _text(f"/proc/{self.pid}/task/{thread}/stat")
            states.add(stat.rpartition(")")[2].split()[0] if stat else "T")
        return "/proc says T (stopped) of all its threads" if states == {"T"} else None

    def _read(self, name):
        return _text(f"/proc/{self.pid}/{name}")

    def _stat(self, **other):
        text = self._read("stat")
        if text:
            return text.rpartition(")")[2].split()
        if "default" in other:
            return other["default"]
        raise ProcessLookupError(self.pid)


def boot_clock():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def all_processes():
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                yield Process(int(name))
            except ProcessLookupError:
                pass


def find(condition):
    """Living processes for which `condition` holds."""
    found = []
    for process in all_processes():
        try:
            if process.is_alive and condition(process):
                found.append(process)
        except (ProcessLookupError, FileNotFoundError):
            pass
    return found


def descendants():
    """All that descend from us, dead ones included."""
    parents = {}
    for process in all_processes():
        try:
            parents.setdefault(process.parent, []).append(process)
        except ProcessLookupError:
            pass
    found, rest = [], [os.getpid()]
    while rest:
        for child in parents.get(rest.pop(), []):
            found.append(child)
            rest.append(child.pid)
    return found


def end_descendants():
    """Ends whatever still descends from us, thawing it first."""
    while living := [process for process in descendants() if process.is_alive]:
        for process in living:
            try:
                groups = process.cgroups()
                if "/offstage-" in groups.get("", ""):
                    _write(groups[""] + "/cgroup.freeze", "0")
                if "/offstage-" in groups.get("freezer", ""):
                    _write(groups["freezer"] + "/freezer.state", "THAWED")
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        _reap_all()
        time.sleep(0.02)
    _reap_all()


def _reap_all():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def remove_groups(name, limit=10.0):
    """Removes control groups of that name, with those below, once the last has died in them."""
    end = time.monotonic() + limit
    while not all([_remove_tree(group) for group in _groups(name)]) and time.monotonic() < end:
        _reap_all()
        time.sleep(0.02)


def _groups(name):
    for _, point in set(_mounts().values()):
        for directory, children, _ in os.walk(point):
            if name in children:
                yield f"{directory}/{name}"


def _remove_tree(top):
    for group, _, _ in os.walk(top, topdown=False):
        try:
            os.rmdir(group)
        except OSError:
            return False
    return True


_known_mounts = {}


def _mounts():
    if not _known_mounts:
        for line in _text("/proc/self/mountinfo").splitlines():
            before, _, after = line.partition(" - ")
            kind, _, options = after.split()[:3]
            # Which part of the hierarchy is mounted, and where.
            place = tuple(before.split()[3:5])
            if kind == "cgroup2":
                _known_mounts[""] = place
            elif kind == "cgroup":
                _known_mounts.update({option: place for option in options.split(",")})
    return _known_mounts


def _text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _write(path, text):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        pass
