"""The real upowerd on a laptop of umockdev's. Each line of its input is an order: "end" and "start"
are the service's, anything else is DEVICE ATTRIBUTE VALUE."""

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
    return subprocess.Popen(["/usr/libexec/upowerd"])


service = start()
for line in sys.stdin:
    words = line.split()
    if words[0] == "end":
        service.kill()
        service.wait()
    elif words[0] == "start":
        service = start()
    else:
        bed.set_attribute(devices[words[0]], words[1], words[2])
        bed.uevent(devices[words[0]], "change")
