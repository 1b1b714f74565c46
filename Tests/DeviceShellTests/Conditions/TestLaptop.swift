import Linux
import TestKit

/// A laptop of the kernel's files (umockdev), and the real upowerd on it, on a message bus of the
/// test's.
final class TestLaptop {
    private let bus: MessageBus
    private let orders: FileDescriptor

    static let service = "org.freedesktop.UPower"

    init(_ scratch: ScratchDirectory, on bus: MessageBus) throws {
        self.bus = bus
        let pipe = scratch("orders")
        guard try Command("mkfifo", pipe).run().succeeded else {
            throw DidNotHappen(description: "a pipe at \(pipe)")
        }
        try scratch.write("laptop.py", Self.script)
        try bus.start(
            Self.service,
            "umockdev-wrapper",
            "/usr/bin/python3",
            scratch("laptop.py"),
            pipe
        )
        // For reading as well: opening it does not wait.
        orders = try FileDescriptor(opening: pipe, .both)
        try bus.wait(forOwnerOf: Self.service)
    }

    func plug(_ isPlugged: Bool) throws { try order("AC online \(isPlugged ? 1 : 0)") }

    /// Per cent.
    func charge(_ percent: Int) throws { try order("BAT0 energy_now \(percent * 500_000)") }

    /// What the battery says that it does.
    func battery(is status: String) throws { try order("BAT0 status \(status)") }

    func endService() throws { try order("end") }

    func startService() throws {
        try order("start")
        try bus.wait(forOwnerOf: Self.service)
    }

    private func order(_ line: String) throws { try orders.writeAll(line + "\n") }

    private static let script = """
        import ctypes, gi, signal, subprocess, sys
        gi.require_version("UMockdev", "1.0")
        from gi.repository import UMockdev

        bed = UMockdev.Testbed.new()
        devices = {
            "AC": bed.add_device("power_supply", "AC", None,
                ["type", "Mains", "online", "1"], ["POWER_SUPPLY_ONLINE", "1"]),
            "BAT0": bed.add_device("power_supply", "BAT0", None,
                ["type", "Battery", "present", "1", "status", "Discharging",
                 "energy_full", "50000000", "energy_full_design", "50000000",
                 "energy_now", "40000000", "voltage_now", "12000000"],
                ["POWER_SUPPLY_NAME", "BAT0"]),
        }

        def start():
            # It ends with this program, however that ends.
            return subprocess.Popen(["/usr/libexec/upowerd"],
                preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))

        service = start()
        for line in open(sys.argv[1]):
            words = line.split()
            if words[0] == "end":
                service.kill()
                service.wait()
            elif words[0] == "start":
                service = start()
            else:
                bed.set_attribute(devices[words[0]], words[1], words[2])
                bed.uevent(devices[words[0]], "change")
        """
}
