package import Linux
package import Vocabulary

/// `offstaged` in another role: a small process that holds the scope of the apps while none runs,
/// holds their logs to their limit, and thaws everything once no daemon has lived for a while, so
/// that nothing hangs for ever. It ends when neither a daemon nor a launch is left.
package enum Keeper {
    /// The leaf of the scope where it lives itself.
    static let groupName = "keeper"

    package static let patience = Interval.seconds(10)

    /// A keeper that runs.
    package struct Running: ~Copyable {
        package let process: PidFD
        /// Whether this daemon started it and must reap it.
        package let isOurs: Bool
    }

    /// Sees to it that a keeper runs: the one that does, or a new one in the scope of `control`.
    /// To be called again when its process ends. `executable` is `offstaged`.
    package static func ensure(
        executable: String,
        lock: borrowing DaemonLock,
        markers: LaunchMarkers,
        control: any ProcessControl,
        logs: String? = nil,
        wakeLock: WakeLock? = nil,
        patience: Interval = Keeper.patience
    ) throws(LinuxError) -> Running {
        try markers.record(control.step)
        if try lock.keeperLives(), let known = try lock.keeper(),
            let process = try? PidFD(of: known)
        {
            return Running(process: process, isOurs: false)
        }
        var program = Program(
            executable,
            arguments: [
                "offstaged", "--keeper", "--lock", lock.path, "--launches", markers.directory,
                "--patience", "\(patience.nanoseconds / 1_000_000)",
            ],
            environment: []
        )
        if let logs { program.arguments += ["--logs", logs] }
        if let wakeLock {
            program.arguments += ["--power", wakeLock.directory, "--wake-lock", wakeLock.name]
        }
        program.directory = "/"
        if control.step.kind == .cgroup2 {
            let group = CgroupV2(control.step.path).child(groupName)
            try group.create()
            program.cgroup = group.path
        }
        return Running(process: try program.start(), isOurs: true)
    }

    /// The role itself: `arguments` are those after the program's name. Returns the exit code.
    package static func main(_ arguments: [String]) -> Int32 {
        let table: [Options.Option] = [
            .init("keeper"), .init("lock", nil, .required), .init("launches", nil, .required),
            .init("patience", nil, .required), .init("power", nil, .required),
            .init("wake-lock", nil, .required), .init("logs", nil, .required),
        ]
        guard let options = try? Options(arguments, table), options.operands.isEmpty,
            let lock = options["lock"], let launches = options["launches"],
            let patience = options["patience"].flatMap({ Int64($0) })
        else { return 2 }
        let wakeLock = options["wake-lock"].map {
            WakeLock(name: $0, directory: options["power"] ?? WakeLock.usualDirectory)
        }
        do throws(LinuxError) {
            try keep(
                DaemonLock(lock),
                LaunchMarkers(launches),
                logs: options["logs"],
                wakeLock,
                .milliseconds(patience)
            )
            return 0
        } catch {
            return 1
        }
    }

    private static func keep(
        _ lock: consuming DaemonLock,
        _ markers: LaunchMarkers,
        logs: String?,
        _ wakeLock: WakeLock?,
        _ patience: Interval
    ) throws(LinuxError) {
        guard try lock.takeForKeeper() else { return }
        if let logs { try LogKeeping.begin(logs) }
        repeat {
            try lock.waitForDaemonsEnd()
        } while try !outlive(lock, markers, wakeLock, patience)
        // Out of the scope first, as far as the kernel lets us: then nothing is left of it.
        if let (kind, path) = markers.recordedStep(), kind == .cgroup2 {
            try? CgroupV2(Files.directory(of: path)).add(CurrentProcess.pid)
        }
        _ = try lock.whileNoDaemon { markers.removeRecordedScope() }
    }

    /// No daemon lives. False: one does again. True: nothing is left to keep.
    private static func outlive(
        _ lock: borrowing DaemonLock,
        _ markers: LaunchMarkers,
        _ wakeLock: WakeLock?,
        _ patience: Interval
    ) throws(LinuxError) -> Bool {
        // A daemon that starts writes its name into the lock file. Watched before it is asked.
        let watch = LockWatch(lock.path)
        let control = markers.recordedControl
        var deadlines = Deadlines(markers)
        let end = Clocks.boot() + patience
        while Clocks.boot() < end {
            let due = try lock.whileNoDaemon { keep(&deadlines, control) }
            if try lock.daemonLives() { return false }
            let left = min(end - Clocks.boot(), due.flatMap { $0 } ?? patience)
            _ = try Poll.wait(
                for: watch.numbers.map { ($0, .readable) },
                milliseconds: milliseconds(left)
            )
            watch.clear()
        }
        let thawed: Void? = try lock.whileNoDaemon {
            // Nobody lives who would end the grant that the machine is held awake for.
            wakeLock?.hold(false)
            guard let control else { return }
            for id in control.discover() {
                // One that cannot be thawed must not keep the others frozen.
                try? control.thaw(id)
            }
        }
        guard thawed != nil else { return false }
        guard let control else { return true }
        while true {
            let due = try lock.whileNoDaemon { keep(&deadlines, control) }
            let living = control.discover().flatMap { control.processes(of: $0) }
            if living.isEmpty { return true }
            try waitForAnEnd(of: living, or: watch, atMost: due.flatMap { $0 })
            if try lock.daemonLives() { return false }
        }
    }

    /// Ends the launches whose time is over; how long until there is something to do again.
    private static func keep(
        _ deadlines: inout Deadlines,
        _ control: (any ProcessControl)?
    ) -> Interval? {
        guard let control else { return nil }
        let now = Clocks.now().awake
        return deadlines.keep(by: control, at: now).map { max(.zero, $0 - now) }
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

/// Says when the lock file was written. The kernel may have no room for one more watcher; then it
/// says nothing, and the lock is only asked.
private final class LockWatch {
    private var inotify: Inotify?
    let numbers: [Int32]

    init(_ path: String) {
        do throws(LinuxError) {
            let opened = try Inotify()
            _ = try opened.add(path, .modified)
            numbers = [opened.descriptor.number]
            inotify = consume opened
        } catch {
            numbers = []
        }
    }

    func clear() { _ = try? inotify?.events() }
}
