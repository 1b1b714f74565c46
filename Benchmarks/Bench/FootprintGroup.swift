import AppProtocol
import DeviceCore
import Linux
import SystemBus
import TestKit
import Vocabulary

/// What the daemon costs when nothing happens, and what one of each thing costs when something
/// does (docs/benchmarks.md, Footprint).
struct FootprintGroup {
    /// Seconds of looking at an idle daemon.
    var idleSeconds: Int32 = 60

    func run() throws -> [Figure] {
        var figures: [Figure] = []
        let daemon = try daemonWithWork()
        figures += try idle(daemon)
        figures.append(try submit(daemon))
        figures.append(try roundTrip(daemon))
        figures.append(try largestMessage(daemon))
        return figures
    }

    /// 100 apps with manifests, 1,000 requests that are not due.
    private func daemonWithWork() throws -> ScratchDaemon {
        let pressure = Pressure.path(of: .memory)
        let daemon = try ScratchDaemon(
            options: Files.exists(pressure) ? ["--pressure", pressure] : []
        )
        for number in 0..<100 {
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
                RefreshInterval=30d
                NeedsNetwork=true
                """
            )
        }
        try daemon.start()
        let bus = try Bus.connect(toSocket: daemon.socket)
        // Offline by hand, so that nothing is due however long the benchmark runs.
        try Self.control(bus, "Set", ["network", "off", [:]], "ssa{sv}")
        for number in 0..<1000 {
            try Self.control(
                bus,
                "Submit",
                [
                    [
                        "kind": "processing", "command": ["true"], "id": .string("r\(number)"),
                        "after": 8_640_000.0, "token": .string("token \(number)"),
                    ]
                ],
                "a{sv}"
            )
        }
        try daemon.kill()
        return daemon
    }

    static func control(
        _ bus: Bus,
        _ method: String,
        _ arguments: [Value],
        _ signature: String
    ) throws {
        _ = try bus.call(
            Target(Control1.busName, Control1.path, Control1.name, method),
            arguments,
            signature: signature
        )
    }

    // MARK: Idle

    private func idle(_ daemon: ScratchDaemon) throws -> [Figure] {
        var starts: [Double] = []
        for _ in 0..<5 {
            starts.append(try timed { try daemon.start() } / 1e6)
            try daemon.kill()
        }
        try daemon.start()
        let pid = daemon.identity?.pid ?? 0
        pause(8)
        let before = ProcessFields(of: pid).wakeUps
        pause(idleSeconds)
        let after = ProcessFields(of: pid).wakeUps
        return [
            Figure(
                name: "idle daemon, resident",
                unit: "MB",
                ours: ProcessFields(of: pid)["VmRSS"] / 1024,
                limit: .atMost(20)
            ),
            Figure(
                name: "idle daemon, wake-ups in \(idleSeconds) s",
                unit: "",
                ours: after - before,
                limit: .atMost(0)
            ),
            Figure(
                name: "ready after start",
                unit: "ms",
                ours: starts.median,
                limit: .atMost(40)
            ),
        ]
    }

    // MARK: One of each

    /// One client in sequence against a bare commit of the same size on the same disk.
    private func submit(_ daemon: ScratchDaemon) throws -> Figure {
        let commit = try BareCommit(path: daemon.scratch("bare.db"))
        let bus = try Bus.connect(toSocket: daemon.socket)
        var ours: [Double] = []
        var bare: [Double] = []
        for number in 0..<600 {
            ours.append(
                try timed {
                    try Self.control(
                        bus,
                        "Submit",
                        [
                            [
                                "kind": "processing", "command": ["true"],
                                "id": .string("s\(number % 50)"), "after": 8_640_000.0,
                            ]
                        ],
                        "a{sv}"
                    )
                } / 1000
            )
            bare.append(try timed { try commit.run() } / 1000)
        }
        return Figure(
            name: "submit, p50",
            unit: "µs",
            ours: ours.median,
            peer: bare.median,
            peerName: "bare SQLite commit",
            limit: .ratio(3)
        )
    }

    /// The same C client against the daemon and against a C server, all on one processor: which one
    /// the kernel wakes whom on is a matter of luck, and costs three times what is measured.
    private func roundTrip(_ daemon: ScratchDaemon) throws -> Figure {
        let socket = daemon.scratch("peer")
        let peerProgram = ["taskset", "-c", "0", Products.path(of: "offstage-bench-peer")]
        let server = try Command(peerProgram + ["serve", socket]).start()
        defer { try? server.send(Signal.kill) }
        _ = try Command("taskset", "-apc", "0", "\(daemon.identity?.pid ?? 0)").run()
        while !Files.exists(socket) { _ = Poll.ready(-1, for: .readable, milliseconds: 10) }
        func median(_ path: String) throws -> Double {
            let outcome = try Command(peerProgram + ["call", path, "1000"]).run()
            return (Double(outcome.output.filter(\.isNumber)) ?? 0) / 1000
        }
        var ours: [Double] = []
        var peer: [Double] = []
        for _ in 0..<7 {
            ours.append(try median(daemon.socket))
            peer.append(try median(socket))
        }
        return Figure(
            name: "D-Bus round trip, p50",
            unit: "µs",
            ours: ours.median,
            peer: peer.median,
            peerName: "C server",
            limit: .ratio(1.5)
        )
    }

    /// The largest message that D-Bus allows, from one peer: the daemon's peak.
    private func largestMessage(_ daemon: ScratchDaemon) throws -> Figure {
        let outcome = try Command(
            Products.path(of: "offstage-bench-peer"),
            "flood",
            daemon.socket,
            "134000000"
        ).run()
        print("     (the peer saw: \(outcome.output.split(separator: "\n").first ?? "nothing"))")
        let bus = try Bus.connect(toSocket: daemon.socket)
        try Self.control(bus, "Version", [], "")
        return Figure(
            name: "peak memory after a message of 128 MB, daemon up",
            unit: "MB",
            ours: ProcessFields(of: daemon.identity?.pid ?? 0)["VmHWM"] / 1024,
            limit: .atMost(40)
        )
    }
}
