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
        try bus.start(
            Self.service,
            "umockdev-wrapper",
            "/usr/bin/python3",
            Self.program,
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

    private static let program =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/") + "/Fixtures/laptop.py"
}
