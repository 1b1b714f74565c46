import Linux
import Vocabulary

/// What a daemon left behind, in the hands of the keeper while none lives.
///
/// The state directory may be deleted, moved or replaced meanwhile. Where nothing is in its place
/// the keeper goes on with what it knows. A daemon that began anew in the same place has the same
/// scope, so nothing in there is touched any more; if it has another scope, ours is still ours.
struct KeptScope: ~Copyable {
    enum End {
        case daemonLives
        case nothingIsLeft
        /// What is in the place of our state directory has our scope too.
        case isReplaced
    }

    private let markers: LaunchMarkers
    private let step: ControlStep?
    /// Nil: nothing is known of what was left.
    private let control: (any ProcessControl)?
    private var deadlines = Deadlines()
    /// A daemon that has just begun is given the time to say where it is.
    private var isPatient = true

    /// Until something needs the keeper no more, or another one has it.
    static func outlive(
        _ lock: borrowing DaemonLock,
        _ markers: LaunchMarkers,
        _ step: ControlStep?,
        _ wakeLock: WakeLock?,
        _ patience: Interval
    ) throws(LinuxError) -> End {
        var kept = KeptScope(lock, markers, step)
        let end = try kept.outlive(lock, wakeLock, patience)
        if case .nothingIsLeft = end { try kept.remove(lock) }
        return end
    }

    private init(
        _ lock: borrowing DaemonLock,
        _ markers: LaunchMarkers,
        _ step: ControlStep?
    ) {
        (self.markers, self.step) = (markers, step)
        // In another directory are the markers of others.
        control = step?.control(with: lock.place == .other ? nil : markers)
    }

    private mutating func outlive(
        _ lock: borrowing DaemonLock,
        _ wakeLock: WakeLock?,
        _ patience: Interval
    ) throws(LinuxError) -> End {
        // A daemon that starts writes its name into the lock file. Watched before it is asked.
        let watch = LockWatch(lock.path)
        let end = Clocks.boot() + patience
        while Clocks.boot() < end || owner(lock) == .unknown {
            isPatient = Clocks.boot() < end
            let due = try keepDeadlines(lock)
            if let end = try disturbance(lock) { return end }
            let now = Clocks.boot()
            let left = min(now < end ? end - now : patience, due ?? patience)
            _ = try Poll.wait(
                for: watch.numbers.map { ($0, .readable) },
                milliseconds: Self.milliseconds(left)
            )
            watch.clear()
        }
        isPatient = false
        let thawed: Void? = try whileOurs(lock) { control in
            // Nobody lives who would end the grant that the machine is held awake for.
            if lock.place != .other { wakeLock?.hold(false) }
            for id in control?.discover() ?? [] {
                // One that cannot be thawed must not keep the others frozen.
                try? control?.thaw(id)
            }
        }
        guard thawed != nil else { return try disturbance(lock) ?? .daemonLives }
        while true {
            let due = try keepDeadlines(lock)
            if let end = try disturbance(lock) { return end }
            let control = reach(lock)
            let living = control?.discover().flatMap { control?.processes(of: $0) ?? [] } ?? []
            if living.isEmpty { return .nothingIsLeft }
            // Nothing tells what is put in the place of a directory that is gone.
            let limit = lock.place == .own ? due : min(due ?? Keeper.patience, Keeper.patience)
            try Self.waitForAnEnd(of: living, or: watch, atMost: limit)
        }
    }

    /// Out of the scope first, as far as the kernel lets us: then nothing is left of it.
    private func remove(_ lock: borrowing DaemonLock) throws(LinuxError) {
        guard let step else { return }
        if step.kind == .cgroup2 {
            try? CgroupV2(Files.directory(of: step.path)).add(CurrentProcess.pid)
        }
        _ = try whileOurs(lock) { _ in
            step.removeScope(besides: lock.place == .other ? markers.recordedStep() : nil)
        }
    }

    // MARK: Whose it is

    /// Why there is nothing to do here any more; nil: it is still ours.
    private func disturbance(_ lock: borrowing DaemonLock) throws(LinuxError) -> End? {
        if try lock.daemonLives() { return .daemonLives }
        return owner(lock) == .others ? .isReplaced : nil
    }

    private func owner(_ lock: borrowing DaemonLock) -> ScopeOwner {
        let owner = ScopeOwner(of: step, lock, markers)
        // Whoever ended before it could say where it is has nothing there.
        guard owner == .unknown, !isPatient else { return owner }
        return ScopeOwner.daemonLives(at: lock.path) ? .unknown : .we
    }

    /// Nil: a daemon lives that has the scope.
    private func whileOurs<Answer>(
        _ lock: borrowing DaemonLock,
        _ body: ((any ProcessControl)?) -> Answer
    ) throws(LinuxError) -> Answer? {
        let answer = try lock.whileNoDaemon { owner(lock) == .we ? body(reach(lock)) : nil }
        return answer.flatMap(\.self)
    }

    private func reach(_ lock: borrowing DaemonLock) -> (any ProcessControl)? {
        step?.reach(control, from: lock.place)
    }

    // MARK: Ends

    /// Ends the launches whose time is over; how long until there is something to do again.
    private mutating func keepDeadlines(
        _ lock: borrowing DaemonLock
    ) throws(LinuxError) -> Interval? {
        let markers = markers
        var deadlines = deadlines
        defer { self.deadlines = deadlines }
        let left = try whileOurs(lock) { control -> Interval? in
            if lock.place == .own { deadlines.read(markers) }
            guard let control else { return nil }
            let now = Clocks.now().awake
            return deadlines.keep(by: control, at: now).map { max(.zero, $0 - now) }
        }
        return left.flatMap(\.self)
    }

    private static func milliseconds(_ time: Interval) -> Int32 {
        Int32(clamping: max(0, time.nanoseconds) / 1_000_000 + 1)
    }

    /// Until one of the processes ends, or the watch has something to say.
    private static func waitForAnEnd(
        of pids: [Int32],
        or watch: LockWatch,
        atMost limit: Interval?
    ) throws(LinuxError) {
        // Of very many, the end of one of the first is as good: all must end before we do.
        let descriptors = pids.prefix(200).compactMap { pid -> Int32? in
            (try? PidFD(of: pid))?.release()
        }
        defer { for number in descriptors { _ = FileDescriptor(owning: number) } }
        guard descriptors.count == min(pids.count, 200) else { return }
        let all = watch.numbers + descriptors
        _ = try Poll.wait(
            for: all.map { ($0, Poll.Events.readable) },
            milliseconds: limit.map { milliseconds($0) } ?? -1
        )
        watch.clear()
    }
}

/// Who owns the scope of a daemon, judged by what is now at the path of its state directory.
enum ScopeOwner {
    case we
    /// What is there has the same scope.
    case others
    /// One that has just begun has not written down yet where it is.
    case unknown

    init(of step: ControlStep?, _ lock: borrowing DaemonLock, _ markers: LaunchMarkers) {
        self = .we
        guard lock.place == .other else { return }
        guard let step, !step.path.isEmpty else {
            self = .others
            return
        }
        let theirs = markers.recordedStep()
        if theirs?.path == step.path { self = .others }
        if theirs == nil { self = .unknown }
    }

    /// Whether one holds the lock that is there now.
    static func daemonLives(at path: String) -> Bool {
        // To look must not make one.
        guard Files.exists(path), let lock = try? DaemonLock(path) else { return false }
        return (try? lock.daemonLives()) != false
    }
}

/// Says when the lock file was written, or taken from its place. The kernel may have no room for
/// one more watcher; then it says nothing, and the lock is only asked.
private final class LockWatch {
    private var inotify: Inotify?
    let numbers: [Int32]

    init(_ path: String) {
        do throws(LinuxError) {
            let opened = try Inotify()
            _ = try opened.add(path, [.modified, .attributes])
            numbers = [opened.descriptor.number]
            inotify = consume opened
        } catch {
            numbers = []
        }
    }

    func clear() { _ = try? inotify?.events() }
}
