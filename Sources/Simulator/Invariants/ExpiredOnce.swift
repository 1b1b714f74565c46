import DeviceCore
import Vocabulary

/// The expiration handler is called once, and before the end. An app that connects again is told
/// again, since nobody knows what it has heard; its library calls the handler once.
final class ExpiredOnce: EffectInvariant, CallInvariant {
    let name = "expiration handlers are called once, before the end"
    /// Over which of its app's connections each delivery was told.
    private var told: [DeliveryID: Int] = [:]
    /// By launch: what is wrong if it was killed because it completed nothing.
    private var unwarned: [LaunchID: String] = [:]
    /// By launch: when it was greeted last. Nobody could tell it anything before that.
    private var greeted: [LaunchID: AwakeTime] = [:]
    /// No daemon, or no store, could tell anybody anything until then.
    private var graceUntil = AwakeTime(nanoseconds: .min)

    func rebooted() {
        graceUntil = AwakeTime(nanoseconds: .min)
        unwarned.removeAll()
        greeted.removeAll()
    }

    func asked(_ token: ReplyToken, _ event: Event, at now: Moment) {}

    func replied(_ token: ReplyToken, _ reply: Reply, at now: Moment) {
        if case .greeted(let greeting) = reply { greeted[greeting.launch] = now.awake }
    }

    func performed(_ effect: Effect, at now: Moment, _ world: World) -> String? {
        switch effect {
        case .tell(let launch, .expire(let id, _, _)):
            // Without a connection nobody is told.
            guard let connection = world.process(launch)?.clients.first?.bound else { break }
            if told.updateValue(connection, forKey: id) == connection {
                return "delivery \(id) of launch \(launch) is expired twice"
            }
        case .kill(let launch):
            guard let process = world.process(launch), !process.isDead, process.talk.isConnected,
                world.storeTrouble == nil, now.awake > graceUntil
            else { return nil }
            unwarned[launch] = fault(of: process, at: now.awake)
        case .save, .spawn, .attach, .probe, .cancelProbe, .freeze, .thaw, .terminate, .release,
            .measure, .checkLocks, .weigh, .limitMemory, .transfer, .setDeadline, .tell, .holdAwake,
            .inhibitIdle,
            .sleepAgain,
            .watchIdle, .notifyFailures, .watchUse, .reply, .arm, .announce:
            break
        }
        return nil
    }

    /// Nil: something of it was told in time, or never taken, or is a task of its own.
    private func fault(of process: VirtualProcess, at now: AwakeTime) -> String? {
        let work = process.talk.work
        guard !work.isEmpty, work.allSatisfy({ $0.begun != nil }), !process.talk.hasTasks else {
            return nil
        }
        // A timer may be late, but then the warning is late, too.
        guard let first = work.compactMap(\.warned).min() else {
            return "launch \(process.launch) is ended, and was never told"
        }
        let time = now - first
        guard time < .seconds(1) else { return nil }
        // It had lost its connection, and was told as soon as it was back.
        if let back = greeted[process.launch], back <= first, first - back < .seconds(1) {
            return nil
        }
        return "launch \(process.launch) had \(time) to finish"
    }

    func ended(_ turn: Turn, _ world: World) -> String? {
        if turn.isStart || turn.wasRolledBack || world.storeTrouble != nil {
            graceUntil = turn.moment.awake + .seconds(12)
        }
        for line in turn.lines {
            guard case .wake(let report) = line.entry,
                let text = unwarned.removeValue(forKey: report.launch),
                report.result == .terminated(.neverCompleted)
            else { continue }
            return text
        }
        return nil
    }
}
