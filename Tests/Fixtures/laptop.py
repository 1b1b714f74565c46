"""The real upowerd on a laptop of umockdev's, for the tests and for scripts/container.

Each line of the file that is its argument, or else of its input, is an order: "end" and "start" are
the service's, anything else is DEVICE ATTRIBUTE VALUE.
"""

import ctypes
import signal
import subprocess
import sys

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402

bed = UMockdev.Testbed.new()


def device(name, attributes, properties):
    return bed.add_device("power_supply", name, None, attributes, properties)


devices = {
    "AC": device("AC", ["type", "Mains", "online", "1"], ["POWER_SUPPLY_ONLINE", "1"]),
    "BAT0": device(
        "BAT0",
        ["type", "Battery", "present", "1", "status", "Discharging", "voltage_now", "12000000"]
        + ["energy_full", "50000000", "energy_full_design", "50000000", "energy_now", "40000000"],
        ["POWER_SUPPLY_NAME", "BAT0"],
    ),
}


def start():
    # It ends with this program, however that ends.
    return subprocess.Popen(
        ["/usr/libexec/upowerd"],
        preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL),
    )


service = start()
for line in open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin:
    words = line.split()
    if words[0] == "end":
        service.kill()
        service.wait()
    elif words[0] == "start":
        service = start()
    else:
        bed.set_attribute(devices[words[0]], words[1], words[2])
        bed.uevent(devices[words[0]], "change")
