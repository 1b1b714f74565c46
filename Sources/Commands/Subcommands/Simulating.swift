import AppProtocol
import CommandTable
import DeviceCore
import Linux
import Simulator
import Vocabulary

/// Forcing what an app must live with, and the virtual device.
extension OffstageProgram {
    static let simulate = Subcommand(
        "simulate",
        "force a launch, an expiry or a fetch of an app, or run a virtual device",
        forms: ["launch|expire|fetch APP [TASK]", "--days NUMBER [--apps NUMBER] [--seed NUMBER]"],
        operands: 0...3,
        options: [
            OptionRow("days", "run a virtual device for this number of days", argument: "NUMBER"),
            OptionRow("apps", "number of apps (default: 30)", argument: "NUMBER"),
            OptionRow(
                "seed",
                "seed of the random numbers: the same seed gives the same run (default: a new one "
                    + "each time)",
                argument: "NUMBER"
            ),
            OptionRow(
                "seeds",
                "number of runs, each with the next seed (default: 1)",
                argument: "NUMBER"
            ),
        ],
        details: [
            "launch runs a task of the app regardless of the gates, expire ends its time now, and "
                + "fetch wakes the app to fetch. The rules for the end of a run and for "
                + "suspension apply as usual. The history marks simulated runs, and they count "
                + "against no quota.",
            "With --days no daemon is needed: the daemon's core runs a virtual device with apps, "
                + "a user and faults (kills, crashes, lost writes, clock jumps, reboots), and "
                + "the invariants are checked at every step. If one is violated, the run is "
                + "reduced to a small one that still shows it, and the exit status is 1.",
        ],
        examples: [
            Example("simulate launch newsboat", "Refresh newsboat now."),
            Example(
                "simulate expire restic backup",
                "See how a backup reacts when its time is over."
            ),
            Example("simulate --days 1 --apps 5 --seed 7", "Simulate one day of a virtual device."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        if invocation.operands.isEmpty { return try runVirtualDevice(invocation) }
        for name in ["days", "apps", "seed", "seeds"] where invocation.options.has(name) {
            throw Failure(
                .usage,
                "--\(name) is for the virtual device, not for \(invocation.operands[0].quoted)",
                fix: "Say either what to force, or --days."
            )
        }
        try force(invocation)
    }

    private static func force(_ invocation: Invocation) throws(Failure) {
        let word = invocation.operands[0]
        let kinds = Simulation.allCases.map(\.rawValue)
        guard let kind = Simulation(rawValue: word) else {
            throw Failure.unknown(
                "simulation",
                word,
                among: kinds,
                otherwise: "Write one of: \(kinds.joined(separator: ", "))."
            )
        }
        guard invocation.operands.count > 1 else {
            throw Failure(.usage, "simulate \(word): of which app?", fix: "Name one.")
        }
        let app = invocation.operands[1]
        let task = invocation.operands.count > 2 ? invocation.operands[2] : nil
        try invocation.ask(
            Control1.Simulate { ($0.what, $0.app, $0.task) = (kind, app, task) },
            look: "offstage history \(app)"
        )
    }

    private static func runVirtualDevice(_ invocation: Invocation) throws(Failure) {
        guard let days = try invocation.integer("days", in: 1...3660) else {
            throw Failure(
                .usage,
                "simulate: something is missing",
                fix: "Say what to force (launch, expire, fetch) and of which app, or --days."
            )
        }
        let apps = try invocation.integer("apps", in: 1...1000) ?? 30
        let seeds = try invocation.integer("seeds", in: 1...1_000_000) ?? 1
        let first =
            try invocation.integer("seed", in: 0...(Int64.max - 1_000_000))
            ?? Int64(UInt64(bitPattern: Clocks.boot().nanoseconds) % 1_000_000_000)
        var reports: [SimulationReport] = []
        let progress = Progress(of: seeds, invocation.console)
        for seed in first..<first + seeds {
            progress.show(seed - first)
            let report = DeviceSimulation.run(
                days: Int(days),
                apps: Int(apps),
                seed: UInt64(seed)
            )
            reports.append(report)
        }
        progress.end()
        try print(reports, invocation)
        let broken = reports.filter { $0.failure != nil }
        guard let worst = broken.first else { return }
        throw Failure(
            .failed,
            "\(broken.count) of \(seeds) runs violated a rule",
            fix: "Again: offstage simulate --days \(days) --apps \(apps) --seed \(worst.seed)"
        )
    }

    private static func print(
        _ reports: [SimulationReport],
        _ invocation: Invocation
    ) throws(Failure) {
        // One run is a map, several are a list of them.
        guard reports.count > 1 else {
            return try invocation.show(reports[0]) { $0.print(invocation.console) }
        }
        try invocation.show(reports) { reports in
            for (index, report) in reports.enumerated() {
                if index > 0 { invocation.console.print("") }
                report.print(invocation.console)
            }
        }
    }
}

extension SimulationReport {
    fileprivate func print(_ console: Console) {
        let title = "Seed \(seed): \(days) \(days == 1 ? "day" : "days"), \(apps) apps"
        console.print(console.styled(title, .bold))
        var table = Table([Table.Column("FIGURE"), Table.Column("COUNT", isNumber: true)])
        let tenths = Int64((refreshesPerAppDay * 10).rounded())
        table.add("events", "\(events)")
        table.add("commits", "\(commits)")
        table.add("background runs", "\(wakes)")
        table.add("refreshes per app and day", "\(tenths / 10).\(tenths % 10)")
        table.add("refreshes at night", "\(refreshesAtNight)")
        table.add("reboots", "\(reboots)")
        table.add("kills of the daemon survived", "\(killsSurvived)")
        table.add("lives replayed from their log", "\(livesReplayed)")
        for result in results where result.count > 0 {
            table.add("runs that ended: \(result.name)", "\(result.count)")
        }
        for fault in faults where fault.count > 0 {
            table.add("fault: \(fault.name)", "\(fault.count)")
        }
        table.print(console, indent: 2)
        guard let failure else {
            console.print("All \(invariants.count) rules held at every step.")
            return
        }
        console.print(
            console.styled("Broken: \(failure.invariant), after \(failure.after)", .red)
        )
        console.print("  \(failure.text)")
        console.print(
            "  It takes \(failure.apps.joined(separator: ", ")) and these faults: "
                + (failure.faults.isEmpty ? "none" : failure.faults.joined(separator: ", "))
        )
        for line in failure.tail { console.print("  \(line.printable)") }
    }
}
