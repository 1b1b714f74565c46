@testable import DeviceShell
import SystemBus
import TestKit
import Vocabulary

/// logind as python-dbusmock plays it, on a bus of the test's own.
struct MockLogind {
    static let service = ServiceRow.logind.name
    private let bus: MessageBus

    init(on bus: MessageBus) throws {
        self.bus = bus
        try start()
    }

    /// Begins again, after its bus has ended.
    func start() throws {
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
    }

    /// All that keep it from something, as it lists them.
    func locks() throws -> [Value] {
        let target = Target(
            Self.service,
            Logind.manager.path,
            Logind.manager.interface,
            "ListInhibitors"
        )
        return try bus.bus().call(target).first?.listValue ?? []
    }

    /// Of the daemon: `idle block`, `sleep delay`.
    func inhibitors() throws -> [String] {
        try locks().compactMap { row in
            guard row[1] == "Offstage", let what = row[0]?.stringValue,
                let mode = row[3]?.stringValue
            else { return nil }
            return "\(what) \(mode)"
        }
        .sorted()
    }

    /// The mock says nothing of a lock that goes, and sees it only while nobody asks it anything.
    func wait(forInhibitors wanted: [String]) throws {
        try Wait.until("inhibitors \(wanted)", { try inhibitors() == wanted })
    }

    func prepareForSleep(_ isBefore: Bool) throws {
        try bus.emit(
            "PrepareForSleep",
            of: Self.service,
            at: Logind.manager.path,
            Logind.manager.interface,
            "b",
            [.bool(isBefore)]
        )
    }
}
