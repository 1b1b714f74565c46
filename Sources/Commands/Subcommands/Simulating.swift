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
        "force a launch, an expiry or a fetch of an app, or let virtual time pass",
        forms: [
            "launch [--refresh|--processing] APP [TASK]", "expire|fetch APP [TASK]",
            "advance TIME [--patience TIME]", "sleep TIME",
            "--days NUMBER [--apps NUMBER] [--seed NUMBER]",
        ],
        operands: 0...3,
        options: [
            OptionRow(
                "patience",
                "how long, in real time, a run or a transfer may hold up the clock (default: 5s)",
                argument: "TIME"
            ),
            OptionRow("refresh", "launch the task as a refresh"),
            OptionRow("processing", "launch the task as processing"),
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
            "A task that the app has not submitted at the moment is launched as what it was the "
                + "last time. Where that is not known, and the manifest declares both modes, say "
                + "--refresh or --processing: an app that expects the other kind would crash. A "
                + "task that waits is launched as its own kind only.",
            "advance moves the clock of a daemon that was started with --virtual-clock, through "
                + "every timer on the way: what is due runs, and grants end. Before each step it "
                + "waits for runs and transfers in progress, for each at most as long as "
                + "--patience; what takes longer may reach the end of its time. Only the "
                + "daemon's clock moves; programs and servers see real time. TIME is a span, or "
                + "a date or time of day that the daemon's clock is to reach.",
            "sleep moves the clock of such a daemon as if the device slept meanwhile: the time of "
                + "day goes on, and the time that grants count stands still. Nothing is started "
                + "until the device wakes, when everything due is looked at once. The alarm that "
                + "the daemon has set for work that is due ends the sleep early.",
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
            Example(
                "simulate advance 24h",
                "Let a test daemon live through the next day, in a moment."
            ),
            Example("simulate sleep 2h", "See how a test daemon reacts to a closed lid."),
            Example("simulate --days 1 --apps 5 --seed 7", "Simulate one day of a virtual device."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let taskKind = try taskKind(invocation)
        if invocation.operands.isEmpty { return try runVirtualDevice(invocation) }
        for name in ["days", "apps", "seed", "seeds"] where invocation.options.has(name) {
            throw Failure(
                .usage,
                "--\(name) is for the virtual device, not for \(invocation.operands[0].quoted)",
                fix: "Say either what to force, or --days."
            )
        }
        if invocation.operands[0] == advance { return try moveClock(invocation) }
        try checkPatience(invocation)
        if invocation.operands[0] == sleep { return try moveClock(invocation) }
        try force(invocation, taskKind)
    }

    private static let advance = "advance"
    private static let sleep = "sleep"

    private static func checkPatience(_ invocation: Invocation) throws(Failure) {
        guard invocation.options.has("patience") else { return }
        throw Failure(
            .usage,
            "--patience is for simulate advance",
            fix: "Leave it out: nothing waits here."
        )
    }

    private static func moveClock(_ invocation: Invocation) throws(Failure) {
        let word = invocation.operands[0]
        // A date and a time of day are two words to the shell.
        let text = invocation.operands.dropFirst().joined(separator: " ")
        guard invocation.operands.count == 2 || TypedTime(text) != nil else {
            throw Failure(
                .usage,
                "simulate \(word): by how much, and nothing else?",
                fix: "Write a time: offstage simulate \(word) 24h."
            )
        }
        let span = try span(text, invocation)
        guard span > .zero else {
            throw Failure(
                .usage,
                "\(text.quoted) is not a time greater than zero",
                fix: "The clock moves forward only."
            )
        }
        let patience = try invocation.interval("patience")
        let report = try invocation.ask(
            Control1.Advance {
                ($0.seconds, $0.asleep, $0.patience) = (span, word == sleep, patience)
            },
            look: "offstage status"
        )
        try invocation.show(report) { $0.report.print(invocation.console) }
    }

    /// Up to a date, it is by the daemon's clock, which may be ahead of this one.
    private static func span(_ text: String, _ invocation: Invocation) throws(Failure) -> Interval {
        if let span = TypedTime(text)?.span { return span }
        let end = try invocation.timeToCome(text)
        return end.time - end.now.wall
    }

    /// Of the task that is launched, where that is said.
    private static func taskKind(_ invocation: Invocation) throws(Failure) -> TaskKind? {
        let kinds = TaskKind.allCases.filter { invocation.options.has($0.rawValue) }
        guard let kind = kinds.first else { return nil }
        guard kinds.count == 1, invocation.operands.count == 3,
            invocation.operands[0] == Simulation.launch.rawValue
        else {
            throw Failure(
                .usage,
                kinds.count > 1
                    ? "simulate: a task is either --refresh or --processing"
                    : "simulate: --\(kind.rawValue) is for the launch of a task",
                fix: "Write it as: offstage simulate launch APP TASK --\(kind.rawValue)."
            )
        }
        return kind
    }

    private static func force(
        _ invocation: Invocation,
        _ taskKind: TaskKind?
    ) throws(Failure) {
        let word = invocation.operands[0]
        let kinds = Simulation.allCases.map(\.rawValue) + [advance, sleep]
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
            Control1.Simulate {
                ($0.what, $0.app, $0.task, $0.kind) = (kind, app, task, taskKind)
            },
            look: "offstage history \(app)"
        )
        invocation.reportTask(from: 1)
    }

    private static func runVirtualDevice(_ invocation: Invocation) throws(Failure) {
        try checkPatience(invocation)
        guard let days = try invocation.integer("days", in: 1...3660) else {
            throw Failure(
                .usage,
                "simulate: something is missing",
                fix: "Say what to force (launch, expire, fetch) and of which app, or advance or "
                    + "sleep and a time, or --days."
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

extension Report.Advance {
    fileprivate func print(_ console: Console) {
        func counted(_ number: Int64, _ noun: String) -> String {
            "\(number) \(noun)\(number == 1 ? "" : "s")"
        }
        let time = now.wall.map { Times.stamp($0, at: console.now) } ?? now.rawValue.printable
        console.print("It is \(time) for the daemon.")
        if let woken, let wall = woken.wall {
            let app = wokenFor.map { " for \($0.name.printable)" } ?? ""
            let time = Times.stamp(wall, at: console.now)
            console.print("An alarm woke the device at \(time)\(app).")
        }
        console.print(
            "\(counted(launches, "program")) started, "
                + "\(counted(runs, "background run")) ended"
                + (running == 0 ? "." : ", \(counted(running, "background run")) still going on.")
        )
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
