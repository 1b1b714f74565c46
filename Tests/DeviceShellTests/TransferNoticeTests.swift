@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What the user's desktop shows of transfers, on a real message bus.
struct TransferNoticeTests {
    private let server: FaultServer
    private let daemon: ScratchDaemon
    private let bus: MessageBus
    private static let service = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    init() throws {
        server = try FaultServer()
        daemon = try ScratchDaemon(settings: "pause-after-start=0\n")
        bus = try MessageBus(daemon.scratch, "session")
        daemon.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        for name in ["/a&b", "/c", "/d"] {
            server.set(name, .init(VersionedObject(version: 1, size: 1000)))
        }
    }

    private func showNotifications(_ capabilities: String) throws {
        try bus.mock(Self.service, Self.path, Self.service)
        try bus.addMethod(
            "GetCapabilities",
            of: Self.service,
            at: Self.path,
            takes: "",
            gives: "as",
            "ret = dbus.Array([\(capabilities)], signature='s')"
        )
        try bus.addMethod(
            "Notify",
            of: Self.service,
            at: Self.path,
            takes: "susssasa{sv}i",
            gives: "u",
            "ret = 1"
        )
    }

    private var shown: [Substring] {
        let log = (try? daemon.scratch.read(Self.service + ".log")) ?? ""
        return log.split(separator: "\n").filter { $0.contains(" Notify ") }
    }

    private func download(_ words: String...) throws {
        let outcome = try daemon.offstage(["download", "-w"] + words)
        #expect(outcome.succeeded || words.contains { $0.contains("none") }, "\(outcome)")
    }

    @Test(
        .enabled(if: PythonModule.isInstalled("dbusmock"), "python3-dbusmock is not installed")
    )
    func `the end of what was asked for together is shown once, and only when asked for`() throws {
        try showNotifications("'body', 'body-markup'")
        try daemon.start()
        try download(server.url("/c"))
        try download("--notify", server.url("/a&b"))
        try Wait.until("a notification") { shown.count == 1 }
        #expect(shown[0].contains("\"Download finished\" \"a&amp;b\""), "\(shown)")
        try download("--notify", server.url("/d"), server.url("/none"))
        try Wait.until("another one") { shown.count == 2 }
        let title = "\"1 downloads finished, 1 failed\" \"the server answered 404\""
        #expect(shown[1].contains(title), "\(shown)")
        #expect(shown[1].contains("dialog-error"))
    }

    @Test(
        .enabled(if: PythonModule.isInstalled("dbusmock"), "python3-dbusmock is not installed")
    )
    func `a desktop that takes no markup gets none`() throws {
        try showNotifications("'body'")
        try daemon.start()
        try download("--notify", server.url("/a&b"))
        try Wait.until("a notification") { shown.count == 1 }
        #expect(shown[0].contains("\"a&b\""), "\(shown)")
    }

    @Test func `where nobody shows notifications the download ends as ever`() throws {
        try daemon.start()
        try download("--notify", server.url("/c"))
        try Wait.until(file: daemon.logPath) { $0.contains("which cannot be shown") }
        #expect(Files.exists(daemon.scratch("home/c")))
    }
}

/// What the Python of this machine can import.
enum PythonModule {
    static func isInstalled(_ module: String) -> Bool {
        (try? Command("/usr/bin/python3", "-c", "import \(module)").run().succeeded) == true
    }
}
