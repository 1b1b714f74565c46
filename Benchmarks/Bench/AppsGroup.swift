import AppProtocol
import DeviceCore
import Glibc
import Linux
import SystemBus
import TestKit
import Vocabulary

/// What an app that links Offstage pays, and how long it waits (docs/benchmarks.md, Apps).
struct AppsGroup {
    /// Orders of 10 submits each.
    var orders = 60
    /// Deliveries of each kind.
    var rounds = 30

    func run() throws -> [Figure] {
        let footprint = try AppFootprint()
        var figures = [try submit(), try status()]
        figures += try deliveries()
        figures += try footprint.figures()
        return figures
    }

    // MARK: Submit

    /// The app submits, as an app does: in a row, each call until it returns. Between its rows the
    /// same number of bare commits.
    private func submit() throws -> Figure {
        let app = try MeasuredApp(BenchPrograms.linked, "submit", orders: true)
        let commit = try BareCommit(path: app.daemon.scratch("bare.db"))
        try app.open()
        var ours: [Double] = []
        var bare: [Double] = []
        for number in 1...orders {
            try app.order()
            ours += try app.line("submitted", number).split(separator: " ").dropFirst()
                .compactMap { Double($0) }
            for _ in 0..<10 { bare.append(try timed { try commit.run() }) }
        }
        return Figure(
            name: "submit from Swift, p50",
            unit: "µs",
            ours: ours.median / 1000,
            peer: bare.median / 1000,
            peerName: "bare SQLite commit",
            limit: .ratio(3)
        )
    }

    // MARK: Status

    /// What a user waits for it with many apps, of which all wait: from its start to its end.
    private func status() throws -> Figure {
        let daemon = try ScratchDaemon()
        for number in 0..<5000 {
            try daemon.write(
                manifest: "app\(number)",
                """
                [Desktop Entry]
                Type=Application
                Name=App \(number)
                Exec=true
                [X-Offstage]
                BackgroundModes=fetch;
                RefreshCommand=true

                """
            )
        }
        try daemon.start()
        var command = Command(Products.path(of: "offstage"), "status")
        command.environment = Command.cleanEnvironment(["OFFSTAGE_SOCKET": daemon.socket])
        var times: [Double] = []
        for _ in 0..<rounds {
            var outcome: Command.Outcome?
            times.append(try timed { outcome = try command.run() })
            guard outcome?.succeeded == true, outcome?.output.contains("5000 apps") == true else {
                throw DidNotHappen(description: "a status of 5,000 apps: \(outcome as Any)")
            }
        }
        return Figure(
            name: "status with 5,000 apps, p50",
            unit: "ms",
            ours: times.median / 1e6,
            limit: .atMost(100)
        )
    }

    // MARK: Deliveries

    /// In turn to the suspended app, by hand, and to the closed one. The daemon's own log says when
    /// it decided, the app when its handler was there; both on one clock.
    private func deliveries() throws -> [Figure] {
        let app = try MeasuredApp(BenchPrograms.linked)
        var log = try EventLogTail(of: app.daemon.scratch("state/events.log"))
        var suspended: [Double] = []
        var byHand: [Double] = []
        var closed: [Double] = []
        try app.open()
        try app.leave()
        for round in 0..<rounds {
            try app.untilSuspended()
            suspended.append(try app.deliver(2 * round + 1))
            byHand.append(try app.startByHand(round + 1))
            try app.untilSuspended()
            try app.close()
            closed.append(try app.deliver(2 * round + 2))
        }
        // It writes the end of its log before it goes.
        try app.daemon.stop()
        let decided = try Decisions(log.entries())
        // Background apps weigh less: on a busy machine they wait, and the one by hand does not.
        let load = try Files.text("/proc/loadavg").split(separator: " ").first ?? ""
        print("     (load average during the deliveries: \(load))")
        guard decided.thaws.count == rounds, decided.launches.count == rounds else {
            throw DidNotHappen(description: "\(rounds) deliveries of each kind: \(decided)")
        }
        return [
            figure("delivery to a suspended app", suspended, decided.thaws, byHand),
            figure("delivery to a closed app", closed, decided.launches, byHand),
        ]
    }

    private func figure(
        _ name: String,
        _ handled: [Double],
        _ decided: [Double],
        _ byHand: [Double]
    ) -> Figure {
        Figure(
            name: name + ", decision to handler, p50",
            unit: "ms",
            ours: zip(handled, decided).map { $0 - $1 }.median / 1e6,
            peer: byHand.median / 1e6,
            peerName: "the same program by hand, start to the same line"
        )
    }

    /// When the daemon decided to thaw, and to launch, the app for a delivery; CLOCK_MONOTONIC,
    /// nanoseconds.
    private struct Decisions {
        var thaws: [Double] = []
        var launches: [Double] = []

        init(_ entries: [EventLog.Entry]) {
            for entry in entries {
                guard
                    case .event(.user(.simulate, reply: _), let moment, _, let decisions) = entry
                else { continue }
                for decision in decisions {
                    switch decision {
                    case .effect(.thaw): thaws.append(Double(moment.awake.nanoseconds))
                    case .effect(.spawn): launches.append(Double(moment.awake.nanoseconds))
                    default: break
                    }
                }
            }
        }
    }
}
