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
            try Files.makeDirectory(group.path, permissions: 0o755, parents: true)
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
        _ first: consuming DaemonLock,
        _ markers: LaunchMarkers,
        logs: String?,
        _ wakeLock: WakeLock?,
        _ patience: Interval
    ) throws(LinuxError) {
        var lock = first
        // Before anybody can count on this keeper: from then on the directory may go.
        var step = markers.recordedStep()
        guard try lock.takeForKeeper() else { return }
        if let logs { try LogKeeping.begin(logs) }
        while true {
            try lock.waitForDaemonsEnd()
            if lock.place == .own { step = markers.recordedStep() ?? step }
            switch try KeptScope.outlive(lock, markers, step, wakeLock, patience) {
            case .daemonLives: continue
            case .nothingIsLeft: return
            case .isReplaced:
                // What is in its place may have no keeper: a copy that was put back, for one.
                lock = try DaemonLock(lock.path)
                guard try lock.takeForKeeper() else { return }
                step = nil
            }
        }
    }
}
