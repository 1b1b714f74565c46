internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// A virtual clock on its way through a span (`offstage simulate advance`).
///
/// It goes from timer to timer, and each is a turn of its own. Between two timers the clock waits
/// for launches that have something to do, so that a run can end before its grant does, and for
/// transfers that are under way, so that a file comes when it does. It waits for each no longer
/// than the patience. A run that lasts longer sees its grant end; once it has been told so, it is
/// waited for again. The real time that passes meanwhile passes for the device too.
///
/// A device that sleeps (`offstage simulate sleep`) waits for no run and sees no timer but its
/// alarm, which ends the sleep.
@safe
final class Advance {
    /// For what takes only a moment and is not the work itself: starting a launch, handing over its
    /// work, reading its results, and reacting to the end of its time.
    private static let patienceBesideWork = Interval.seconds(10)

    private unowned let daemon: Daemon
    private let from: Moment
    private let target: BootTime
    private let isAsleep: Bool
    private var hasSlept = false
    private var woken: Report.Time?
    private var wokenFor: AppID?
    private let patience: Interval
    private let isWanted: () -> Bool
    private let answer: (Result<Report.Advance, Refusal>) -> Void
    /// Launches that have something to do, and until when, on the machine's clock, that is waited
    /// for.
    private var waits: [LaunchID: (activity: Launch.Activity, end: BootTime)] = [:]
    private var transferWaits: [TransferID: (activity: Transfer.Activity, end: BootTime)] = [:]
    private var launches: Int64 = 0
    private var runs: Int64 = 0
    private var timer: TimerSource?
    private var next: DeferredSource?

    /// `isWanted`: whether whoever asked is still there.
    init(
        _ daemon: Daemon,
        by span: Interval,
        asleep: Bool,
        patience: Interval,
        isWanted: @escaping () -> Bool,
        answer: @escaping (Result<Report.Advance, Refusal>) -> Void
    ) throws(LinuxError) {
        self.daemon = daemon
        from = daemon.now()
        target = from.boot + span
        isAsleep = asleep
        (self.patience, self.isWanted, self.answer) = (patience, isWanted, answer)
        for (id, activity) in daemon.device.transfersUnderWay {
            transferWaits[id] = (activity, Clocks.boot() + patience)
        }
        // The turn that it brings looks again.
        timer = try TimerSource(daemon.loop) {}
    }

    // MARK: What happens meanwhile

    /// An effect is about to be performed: whoever is given something to do is waited for anew.
    func saw(_ effect: Effect) {
        switch effect {
        case .spawn(let id, _):
            launches += 1
            waits[id] = nil
        case .attach(let id, _, _), .probe(let id, _, _, _, _), .thaw(let id),
            .terminate(let id), .kill(let id), .tell(let id, _):
            waits[id] = nil
        case .announce(let line):
            if case .wake = line.entry { runs += 1 }
        case .save, .cancelProbe, .freeze, .release, .measure, .checkLocks, .weigh, .limitMemory,
            .transfer,
            .setDeadline, .holdAwake, .inhibitIdle, .sleepAgain, .watchIdle, .notifyFailures,
            .watchUse, .reply, .arm:
            break
        }
    }

    func turnEnded() {
        guard isWanted() else { return daemon.endAdvance() }
        if daemon.driver.mustRetry { return end(.failure(Self.storage(daemon.device))) }
        do throws(LinuxError) {
            if !isAsleep, let wait = firstWait() {
                next = nil
                try timer?.arm(at: wait)
            } else if next == nil {
                // What is ready goes first: exits, callers.
                let source = try DeferredSource(daemon.loop) { [unowned self] in step() }
                try source.setPriority(10)
                next = source
            }
        } catch {
            end(.failure(Refusal(.held, reason: "the clock cannot be moved on: \(error)")))
        }
    }

    /// Nil: nobody is waited for any more.
    private func firstWait() -> BootTime? {
        let now = Clocks.boot()
        var known = waits
        waits = [:]
        var first: BootTime?
        for (_, launch) in daemon.device.launches where launch.activity != .nothing {
            let activity = launch.activity
            var wait = known.removeValue(forKey: launch.id)
            if wait?.activity != activity { wait = nil }
            let end = wait?.end ?? now + patience(with: activity)
            waits[launch.id] = (activity, end)
            if end > now { first = min(first ?? end, end) }
        }
        return [first, firstTransferWait(from: now)].compactMap(\.self).min()
    }

    /// What is put in place was under way, so it is known.
    private func firstTransferWait(from now: BootTime) -> BootTime? {
        let known = transferWaits
        transferWaits = [:]
        var first: BootTime?
        for id in Set(known.keys).union(daemon.device.runningTransfers) {
            guard let activity = daemon.device.transfer(id)?.activity else { continue }
            var end = now + patience
            if let wait = known[id], wait.activity == activity { end = wait.end }
            transferWaits[id] = (activity, end)
            if end > now { first = min(first ?? end, end) }
        }
        return first
    }

    private func patience(with activity: Launch.Activity) -> Interval {
        switch activity {
        case .nothing, .work: patience
        case .handling, .expiry: max(patience, Self.patienceBesideWork)
        }
    }

    // MARK: Steps

    private func step() {
        next = nil
        // The turn that takes it comes back.
        guard daemon.machine.inbox.isEmpty, !daemon.machine.isStopping else { return }
        do throws(LinuxError) {
            if isAsleep { return try sleep() }
            let due = daemon.machine.timers.first
            if let due, due <= target {
                try daemon.machine.move(to: due)
            } else {
                try daemon.machine.move(to: target)
                end(.success(report))
            }
        } catch {
            end(.failure(Self.notKept(error)))
        }
    }

    /// At once; then the turn in which the device wakes.
    private func sleep() throws(LinuxError) {
        guard !hasSlept else { return end(.success(report)) }
        hasSlept = true
        let alarm = daemon.machine.timers.alarm ?? target
        let app = daemon.device.nextStartingApp
        try daemon.machine.move(to: min(alarm, target), asleep: true)
        guard alarm < target else { return }
        let now = daemon.now()
        (woken, wokenFor) = (Report.Time(now.wall, utcOffset: now.utcOffset), app)
    }

    private var report: Report.Advance {
        let now = daemon.now()
        var report = Report.Advance()
        report.from = Report.Time(from.wall, utcOffset: from.utcOffset)
        report.now = Report.Time(now.wall, utcOffset: now.utcOffset)
        (report.launches, report.runs) = (launches, runs)
        (report.woken, report.wokenFor) = (woken, wokenFor)
        daemon.device.forEachRun { _, _ in report.running += 1 }
        return report
    }

    private func end(_ result: Result<Report.Advance, Refusal>) {
        // Nobody holds this one any more after that.
        let answer = answer
        daemon.endAdvance()
        answer(result)
    }

    private static func storage(_ device: Device) -> Refusal {
        Refusal(
            .storage,
            reason: "the clock stands still: \(device.conditions.storageSentence)",
            fix: device.conditions.storageFix
        )
    }

    private static func notKept(_ error: LinuxError) -> Refusal {
        Refusal(
            .storage,
            reason: "the clock stands still, since its time cannot be kept: \(error)",
            fix: "make room or make it writable, then advance again"
        )
    }
}
