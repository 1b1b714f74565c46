@testable import DeviceShell
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The daemon and the machine's sleep: what it asks of logind (python-dbusmock plays it), and what
/// it does on the way to sleep and back.
final class SleepTests {
    private let bench: DaemonBench
    private let bus: MessageBus
    private static let service = "org.freedesktop.login1"

    init() throws {
        bench = try DaemonBench(starting: false)
        bus = try MessageBus(bench.daemon.scratch, "system")
        bench.daemon.options += ["--system-bus", bus.address]
        try bus.start(
            Self.service,
            "/usr/bin/python3",
            "-m",
            "dbusmock",
            "--system",
            "--template",
            "logind"
        )
        try bus.wait(forOwnerOf: Self.service)
        try bench.daemon.start()
    }

    /// Of the daemon: `idle block`, `sleep delay`.
    private func inhibitors() throws -> [String] {
        let target = Target(
            Self.service,
            Logind.manager.path,
            Logind.manager.interface,
            "ListInhibitors"
        )
        let rows = try bus.bus().call(target).first?.listValue ?? []
        return rows.compactMap { row in
            guard row[1] == "Offstage", let what = row[0]?.stringValue,
                let mode = row[3]?.stringValue
            else { return nil }
            return "\(what) \(mode)"
        }
        .sorted()
    }

    /// The mock says nothing of a lock that goes, and sees it only while nobody asks it anything.
    private func wait(forInhibitors wanted: [String]) throws {
        try Wait.until("inhibitors \(wanted)", { try inhibitors() == wanted })
    }

    private func prepareForSleep(_ isBefore: Bool) throws {
        try bus.emit(
            "PrepareForSleep",
            of: Self.service,
            at: Logind.manager.path,
            Logind.manager.interface,
            "b",
            [.bool(isBefore)]
        )
    }

    @Test func `the machine does not fall asleep by itself while a run lasts`() throws {
        try wait(forInhibitors: ["sleep delay"])
        try bench.submit("while [ ! -e go ]; do sleep 0.1; done", id: "long")
        try wait(forInhibitors: ["idle block", "sleep delay"])
        try bench.daemon.scratch.write("home/go", "")
        try wait(forInhibitors: ["sleep delay"])
        let check = try bench.ask("Doctor").listValue?
            .first { $0["check"] == "staying awake during a run" }
        #expect(check?["found"] == "logind's idle inhibitor")
    }

    @Test func `what holds the machine awake ends with the daemon`() throws {
        try bench.submit("exec sleep 1000", id: "long")
        try wait(forInhibitors: ["idle block", "sleep delay"])
        try bench.kill()
        try bench.daemon.start()
        // The run goes on, and the next daemon holds it awake.
        try wait(forInhibitors: ["idle block", "sleep delay"])
        _ = try bench.stop()
        try wait(forInhibitors: [])
    }

    @Test func `sleep waits until the daemon is ready for it, and no longer`() throws {
        try wait(forInhibitors: ["sleep delay"])
        try prepareForSleep(true)
        try wait(forInhibitors: [])
        try prepareForSleep(false)
        try wait(forInhibitors: ["sleep delay"])
    }
}
