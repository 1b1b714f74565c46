internal import DeviceCore
internal import EventLoop
internal import Linux
internal import Vocabulary

/// The real world behind the device: performs each effect at its place, and collects what happens
/// for the next turn. It decides nothing.
@safe
final class World {
    let loop: EventLoop
    let store: Store
    let places: DaemonPlaces
    /// What has happened since the last turn.
    private(set) var inbox: [Driver<Port>.TimedEvent] = []
    private var processes: AppProcesses?
    private var uses: UseWatch?
    /// Wakes the machine, as far as it can be.
    private var alarm: TimerSource?
    private var timer: TimerSource?
    let wakeLock: WakeLock
    private var isHeldAwake = false
    private var waiting: [ReplyToken: (Reply) -> Void] = [:]
    private var lastToken: UInt64 = 0
    var log: EventLogFile

    init(
        _ loop: EventLoop,
        store: Store,
        places: DaemonPlaces,
        control: any ProcessControl,
        unrecordedBoot: String?,
        limits: [ResourceLimit],
        build: String
    ) throws(LinuxError) {
        (self.loop, self.store, self.places) = (loop, store, places)
        log = EventLogFile(directory: places.state, build: build)
        wakeLock = places.wakeLock
        processes = try AppProcesses(
            loop,
            control: control,
            places: places,
            unrecordedBoot: unrecordedBoot,
            limits: limits
        ) { [unowned self] in
            happened(.process($0, $1))
        }
        uses = try UseWatch(
            loop,
            // What is not known is not taken for a use.
            isOurs: { pid in
                do throws(LinuxError) {
                    return try control.launch(of: pid) != nil
                } catch {
                    return true
                }
            }
        ) { [unowned self] in
            happened(.used($0))
        }
        alarm = try TimerSource(loop, wakingTheMachine: true) { [unowned self] in
            happened(.timer)
        }
        timer = try TimerSource(loop) { [unowned self] in happened(.timer) }
    }

    /// Something happened now.
    func happened(_ event: Event) {
        inbox.append(Driver<Port>.TimedEvent(event, at: Clocks.now()))
    }

    func takeInbox() -> [Driver<Port>.TimedEvent] {
        defer { inbox.removeAll(keepingCapacity: true) }
        return inbox
    }

    /// Events that this turn had no time for go first in the next.
    func putBack(_ events: [Driver<Port>.TimedEvent]) { inbox = events + inbox }

    func survivors(known: [(launch: LaunchID, app: AppID)]) -> [Survivor] {
        processes?.survivors(known: known) ?? []
    }

    func takeEnvironment(of attached: LaunchID) -> [String] {
        processes?.takeEnvironment(of: attached) ?? []
    }

    var wakesTheMachine: Bool { timer?.isAlarm == true }

    /// Why changes of files may go unseen; nil: they do not.
    var watchProblem: LinuxError? { uses?.problem ?? processes?.logWatchProblem }

    func renewWatches() {
        uses?.renew()
        processes?.renewWatches()
    }

    func setLogSize(_ size: Int64) { processes?.logSize = Int(size) }

    /// Gives back a hold of which the core knows nothing, such as that of a daemon that was killed.
    func endStaleHold() { if !isHeldAwake { wakeLock.hold(false) } }

    /// The end of this daemon: a grant that goes on has nobody to end it.
    func endHold() { if isHeldAwake { wakeLock.hold(false) } }

    /// For those who watch on the private socket.
    var announced: (HistoryLine) -> Void = { _ in }
    /// For apps on it.
    var told: (LaunchID, AppMessage) -> Void = { _, _ in }

    /// A caller to be answered, once, after the commit of what it asks for.
    func expect(_ answer: @escaping (Reply) -> Void) -> ReplyToken {
        lastToken += 1
        let token = ReplyToken(lastToken)
        waiting[token] = answer
        return token
    }

    /// The form in which the driver holds the world.
    struct Port: DevicePort {
        let world: World

        mutating func commit(
            _ changes: [Change],
            _ durability: Durability
        ) throws(CommitError) {
            do {
                try world.store.commit(changes, durability)
            } catch {
                throw CommitError(reason: "\(error)", isFull: error.isFull)
            }
        }

        mutating func perform(_ effect: Effect) { world.perform(effect) }

        mutating func reply(_ token: ReplyToken, _ reply: Reply) {
            world.waiting.removeValue(forKey: token)?(reply)
        }

        mutating func record(_ event: Event, at moment: Moment, _ decisions: [Effect]) {
            world.log.append(event, at: moment, decisions)
        }

        mutating func recordRollback(of count: Int) {
            world.log.appendRollback(of: count)
        }
    }

    private func perform(_ effect: Effect) {
        guard let processes else { return }
        switch effect {
        case .save, .reply: break
        case .announce(let line): announced(line)
        case .spawn(let id, let spec): processes.spawn(id, spec)
        case .attach(let id, let caller, let spec): processes.attach(id, caller, spec)
        case .probe(let id, let step, let source, let spec, let limit):
            processes.probe(id, step, source, spec, limit: limit)
        case .cancelProbe(let id): processes.cancelProbe(id)
        case .freeze(let id): processes.freeze(id)
        case .thaw(let id): processes.thaw(id)
        case .terminate(let id): processes.terminate(id)
        case .kill(let id): processes.kill(id)
        case .release(let id): processes.release(id)
        case .measure(let id): processes.measure(id)
        case .checkLocks(let id): processes.checkLocks(id)
        case .weigh(let id, let weight): processes.weigh(id, weight)
        case .limitMemory(let id, let bytes): processes.limitMemory(id, bytes)
        case .tell(let id, let message): told(id, message)
        case .holdAwake(let hold):
            isHeldAwake = hold
            wakeLock.hold(hold)
        case .notifyFailures(let app, let count, let reason, let command):
            notifyFailures(app, count, reason, command)
        case .watchUse(let app, let source): uses?.watch(app, source)
        case .arm(let timers): arm(timers)
        }
    }

    private func arm(_ timers: Timers) {
        do throws(LinuxError) {
            try alarm?.arm(at: timers.alarm)
            try timer?.arm(at: timers.timer)
        } catch {
            DaemonLog.write("the timers cannot be set, retrying with the next event: \(error)")
        }
    }

    private func notifyFailures(
        _ app: AppID,
        _ count: Int64,
        _ reason: String,
        _ command: String
    ) {
        guard let words = ArgumentList.parse(command, home: places.home) else {
            DaemonLog.write("ignoring failure-command, which is no command line: \(command)")
            return
        }
        processes?.notifyFailures(app, count: count, reason: reason, command: words)
    }
}
