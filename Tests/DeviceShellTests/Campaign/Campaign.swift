import Linux
import TestKit
import Vocabulary

/// One state directory, its clients, and what is done to its daemon.
final class Campaign {
    let stage: Stage
    let bench: DaemonBench
    let ledger = Ledger()
    /// What went wrong with the daemon itself.
    private(set) var mishaps: [String] = []
    private let disk: SmallDisk?
    private var random: SeededRandom
    private let seed: UInt64
    private var retrySignals: [RetrySignal] = []
    private var clients: [ServingThread] = []
    private var isFull = false
    private var keepers: Set<Int32> = []
    private(set) var ends: [String: Int] = [:]

    init(_ stage: Stage, seed: UInt64) throws {
        self.stage = stage
        self.seed = stage.name.utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) }
        random = SeededRandom(seed: self.seed)
        bench = try DaemonBench(
            CampaignSettings.daemon,
            options: stage.options,
            as: stage.user,
            starting: false
        )
        disk = stage.isSmall ? SmallDisk(at: bench.daemon.scratch("state")) : nil
        try bench.script(Job.name, Job.script)
        try bench.script(Job.probeName, Job.probe)
    }

    deinit {
        try? bench.kill()
        disk?.unmount()
    }

    private func chance(_ part: Int, in whole: Int) -> Bool { random.below(whole) < part }

    // MARK: The clients

    /// All sensors are set by hand, so that what is there decides nothing.
    private func open() throws {
        try bench.daemon.start()
        for hold in [Hold.power, .network, .metered, .idle, .locked] {
            let word = hold.word(holds: false)
            try bench.set(word.name, word.value)
        }
        for (name, value) in [("battery", "100"), ("low-power", "off"), ("thermal", "nominal")] {
            try bench.set(name, value)
        }
        let place = Caller.Place(
            socket: bench.daemon.socket,
            scratch: bench.daemon.scratch.path,
            user: stage.user
        )
        for number in 0..<CampaignSettings.workers {
            let manners = stage.manners
            try add(place) { Worker($0, name: "w\(number)", manners: manners) }
        }
        try add(place) { DeviceUser($0) }
        try add(place) { Packager($0) }
        wakeCallers()
    }

    private func add(
        _ place: Caller.Place,
        _ make: @escaping @Sendable (Caller) -> some CampaignClient
    ) throws {
        let retrySignal = try RetrySignal()
        retrySignals.append(retrySignal)
        let (ledger, seed) = (ledger, seed &* 1000 &+ UInt64(retrySignals.count))
        clients.append(
            try ServingThread { over in
                var client = make(Caller(place, ledger, retrySignal, over: over, seed: seed))
                try client.live()
            }
        )
    }

    private func wakeCallers() { for retrySignal in retrySignals { retrySignal.signal() } }

    // MARK: The faults

    func run(rounds: Int) throws {
        try open()
        for _ in 0..<rounds { try round() }
        try close()
    }

    private func wants(_ fault: Fault, _ part: Int, in whole: Int) -> Bool {
        let isDrawn = chance(part, in: whole)
        return isDrawn && CampaignSettings.faults.contains(fault)
    }

    /// The daemon runs when it begins, and when it ends.
    private func round() throws {
        reap()
        if try wait(upTo: 250) { return }
        if wants(.stop, 1, in: 5) { try standStill() }
        if wants(.second, 1, in: 6) { try startSecond() }
        if wants(.keeper, 1, in: 4) { killKeeper() }
        if wants(.disk, 1, in: 2) { try changeDisk() }
        if try wait(upTo: 250) { return }
        let isOrderly = wants(.term, 1, in: 3)
        let isYoung = wants(.young, 1, in: 4)
        let signal = isOrderly ? Signal.terminate : Signal.kill
        count(isOrderly ? "term" : "kill")
        if wants(.succession, 1, in: 4) {
            count("succession")
            try judgeEnd(try bench.succeed(signal), signal)
        } else if isOrderly {
            try judgeEnd(try bench.stop(), signal)
            try start(isYoung)
        } else {
            try bench.kill()
            try start(isYoung)
        }
        wakeCallers()
    }

    private func count(_ what: String) { ends[what, default: 0] += 1 }

    private func judgeEnd(_ end: ProcessExit?, _ signal: Int32) throws {
        let wanted = signal == Signal.terminate ? ProcessExit.exited(0) : .signalled(signal)
        if end != wanted { mishaps.append("ended by \(Signal.name(signal)) it was \(end as Any)") }
    }

    private func start(_ isYoung: Bool) throws {
        var killsLeft = isYoung ? 1 + random.below(3) : 0
        while killsLeft > 0 {
            count("young")
            killsLeft -= 1
            if try bench.daemon.start(killedAfter: Int32(random.below(50))) { try bench.kill() }
        }
        do {
            try bench.daemon.start()
        } catch {
            mishaps.append("it did not start: \(error)")
            guard isFull else { throw error }
            free()
            try bench.daemon.start()
        }
    }

    /// A random time for clients and commands. True: the daemon ended in it by itself.
    private func wait(upTo milliseconds: Int32) throws -> Bool {
        guard bench.daemon.ends(within: random.below(milliseconds)) else { return false }
        mishaps.append("it ended by itself: \(bench.daemon.log.suffix(2000))")
        try bench.kill()
        try start(false)
        wakeCallers()
        return true
    }

    private func standStill() throws {
        count("stop")
        try bench.daemon.send(Signal.stop)
        // Also to one that stands still another is refused.
        if wants(.second, 1, in: 2) { try startSecond() }
        _ = try Poll.wait(for: [], milliseconds: random.below(300))
        try bench.daemon.send(Signal.proceed)
    }

    private func startSecond() throws {
        count("second")
        let outcome = try bench.daemon.startBeside()
        if outcome.status != .exited(1) || !outcome.errors.contains("another daemon") {
            mishaps.append("a second one was not refused: \(outcome)")
        }
    }

    private func killKeeper() {
        count("keeper")
        guard let keeper = bench.keeper, let process = try? PidFD(of: keeper) else { return }
        try? process.send(Signal.kill)
    }

    /// What a daemon that was killed had started comes to us when it ends: too many of the dead
    /// would make every look at all processes slow.
    private func reap() {
        if let keeper = bench.keeper { keepers.insert(keeper.pid) }
        let ours = Set(Run.read(bench.read(Job.journal)).runs.map(\.pid)).union(keepers)
        for pid in ((try? Files.list("/proc")) ?? []).compactMap({ Int32($0) }) {
            guard let status = ProcessStatus(of: pid), status.hasEnded,
                status.parent == CurrentProcess.pid, ours.contains(status.session),
                let process = try? PidFD(of: status.identity)
            else { continue }
            _ = try? process.wait(block: false)
        }
    }

    private func changeDisk() throws {
        guard let disk else { return }
        count(isFull ? "freed" : "filled")
        if isFull {
            free()
            wakeCallers()
        } else {
            try disk.fill()
            isFull = true
        }
    }

    private func free() {
        disk?.free()
        isFull = false
    }

    // MARK: The end

    /// There is room, nobody ends the daemon any more, all that may run does.
    private func close() throws {
        free()
        reap()
        try bench.wait(until: "room again") {
            try bench.ask("Conditions").listValue?
                .first { $0["condition"] == "storage" }?["value"] == "ok"
        }
        wakeCallers()
        // Each brings to an end what it has begun.
        clients = []
        var left = Int.max
        while left > 0 {
            let before = left
            try bench.wait(until: "something of what is left has ended") {
                left = try unfinished()
                return left < before
            }
        }
    }

    private func unfinished() throws -> Int {
        let tasks = try bench.ask("Tasks", "").listValue ?? []
        let running = try bench.ask("Status")["running"]?.listValue ?? []
        return tasks.count { $0["origin"] == "submitted" } + running.count
    }

    /// All that was said and written.
    func record() throws -> CampaignRecord {
        let (runs, odd) = Run.read(bench.read(Job.journal))
        return CampaignRecord(
            entries: ledger.entries,
            runs: runs,
            lines: try bench.allHistory().reversed(),
            odd: odd
        )
    }
}

extension DaemonBench {
    /// As `ScratchDaemon.succeed`, with a connection of its own.
    func succeed(_ signal: Int32) throws -> ProcessExit? {
        disconnect()
        return try daemon.succeed(signal)
    }
}
