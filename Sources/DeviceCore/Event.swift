package import Vocabulary

/// Something that happened in the world. Together with the moment it is all that `Device` ever
/// learns, so a recorded list of events replays to the same decisions.
package enum Event: Hashable, Sendable, Codable {
    /// The daemon started. First event of every run, before any peer is accepted.
    indirect case started(Start)
    /// An instant armed by `Effect.arm` came: perhaps late, perhaps twice, perhaps for nothing.
    case timer
    /// The wall clock was set, or the zone changed.
    case clockChanged
    /// The machine's way to sleep and back.
    case sleep(SleepStep)
    /// Manifests were found, edited or removed.
    case manifests([ManifestChange])
    /// The settings were read anew; only whole, valid settings arrive here.
    indirect case settings(Settings)
    /// A source reports, or loses, a sensor.
    case condition(Condition, ConditionSource, Reading)
    /// What became of a process.
    indirect case process(LaunchID, ProcessEvent)
    /// What a linked app says.
    indirect case app(LaunchID, AppEvent)
    /// What became of a transfer.
    indirect case transfer(TransferID, TransferEvent)
    /// Use of an app that was not started through us, seen by `UseFrom`.
    case used(AppID)
    /// Something happened for which an app that declares the trigger's mode may be woken.
    indirect case triggered(TriggerEvent)
    /// What the user, or a program of the user, asks for.
    indirect case user(UserRequest, reply: ReplyToken)
    /// A commit that had failed works again.
    case storageRecovered
    /// The daemon has been told to end: the first event of its last turn.
    case stopping
}

/// A step of the machine's way to sleep and back.
package enum SleepStep: String, CaseIterable, Hashable, Sendable, Codable {
    /// It is about to sleep.
    case begins
    /// It is awake again, or has not slept after all.
    case ended
}

/// What a starting daemon finds.
package struct Start: Hashable, Sendable, Codable {
    /// The kernel's boot id: another one means that every process is gone.
    package var bootID: String
    /// What was found of the launches that the store, or the machine, knows.
    package var survivors: [Survivor]
    /// Unpredictable per device, not negative; the first one is kept: offsets of shared wakes.
    package var seed: Int64
    /// Those in force; nil: the defaults.
    package var settings: Settings?
    /// All that were found; nil: not read yet, they follow. What was running cannot be judged
    /// without its manifest.
    package var manifests: [ManifestChange]?
    /// What sources say already; the others follow.
    package var conditions: [ConditionReport]

    package init(
        bootID: String,
        survivors: [Survivor] = [],
        seed: Int64,
        settings: Settings? = nil,
        manifests: [ManifestChange]? = nil,
        conditions: [ConditionReport] = []
    ) {
        self.bootID = bootID
        self.survivors = survivors
        self.seed = seed
        self.settings = settings
        self.manifests = manifests
        self.conditions = conditions
    }
}

/// What one source says of one condition.
package struct ConditionReport: Hashable, Sendable, Codable {
    package var condition: Condition
    package var source: ConditionSource
    package var reading: Reading

    package init(_ condition: Condition, _ source: ConditionSource, _ reading: Reading) {
        (self.condition, self.source, self.reading) = (condition, source, reading)
    }
}

/// One launch as the machine shows it after a restart of the daemon in the same boot.
package struct Survivor: Hashable, Sendable, Codable {
    package var launch: LaunchID
    /// From the launch's marker, written by the child just before exec. Nil: its program never
    /// began, and never will; the shell voids a marker that names nobody.
    package var process: ProcessID?
    /// Whether the process itself still lives (pid and start time agree).
    package var alive: Bool

    package init(launch: LaunchID, process: ProcessID?, alive: Bool) {
        (self.launch, self.process, self.alive) = (launch, process, alive)
    }

    /// Nil: it has ended, or never began.
    var living: ProcessID? { alive ? process : nil }
}

/// A process beyond doubt: a pid may be reused, with its start time it is not.
package struct ProcessID: Hashable, Sendable, Codable {
    package var pid: Int32
    /// Clock ticks since boot, field 22 of `/proc/PID/stat`.
    package var startTime: UInt64

    package init(pid: Int32, startTime: UInt64) { (self.pid, self.startTime) = (pid, startTime) }
}

package enum ManifestChange: Hashable, Sendable, Codable {
    case present(AppManifest)
    /// There, but not usable; `reason` is the first error, with its line, or why it cannot be read.
    case invalid(AppID, file: String, reason: String)
    /// There, and nobody's mistake: `program`, which its `TryExec` names, is not installed.
    case notInstalled(AppID, file: String, program: String)
    case removed(AppID)
}

/// What became of the main process of a launch, or of a question about it.
package enum ProcessEvent: Hashable, Sendable, Codable {
    /// The marker is written: the program has been started.
    case started(ProcessID)
    /// It could not be started; nothing of it ran.
    case notStarted(StartFailure)
    /// The main process is gone. Comes once, also for adopted processes.
    case exited(Exit, Usage?)
    /// Answer to `Effect.measure`.
    case measured(Usage)
    /// The most memory that it was seen to have, in bytes, when nobody had asked.
    case seen(memory: Int64)
    /// The kernel ended it because the machine, not the launch, had no memory left; its exit
    /// follows.
    case machineOutOfMemory
    /// Answer to `Effect.probe`.
    case probed(ProbeStep, ProbeAnswer)
    /// Answer to `Effect.checkLocks`: paths outside the app's own directories, at most 8.
    case locks([String])
}

extension ProcessEvent {
    /// Says anew what an earlier one said of the same launch.
    func replaces(_ earlier: ProcessEvent) -> Bool {
        if case .measured = self, case .measured = earlier { return true }
        if case .seen = self, case .seen = earlier { return true }
        return false
    }
}

package enum Exit: Hashable, Sendable, Codable {
    case status(Int32)
    case signal(Int32, outOfMemory: Bool)
    /// Adopted, or gone while no daemon ran: the kernel told somebody else.
    case unknown
}

/// What a launch with all its processes has used since it began.
package struct Usage: Hashable, Sendable, Codable {
    package var cpu: Interval
    /// Bytes now, without what is cached of files.
    package var memory: Int64
    /// Bytes: the most at a time since it began, without what is cached of files; nil: not known.
    package var peak: Int64?
    /// There may have been more than the peak; else the kernel counted it.
    @OmittedIfDefault package var isPeakSampled = false

    package init(cpu: Interval, memory: Int64) { (self.cpu, self.memory) = (cpu, memory) }
}

/// Where in a command's run a result is read.
package enum ProbeStep: String, Hashable, Sendable, Codable {
    /// `NewDataFrom`, before the command.
    case before
    /// `NewDataFrom`, after it.
    case after
    /// `FailedFrom`, after it.
    case failed
}

package enum ProbeAnswer: Hashable, Sendable, Codable {
    /// A fingerprint of the file or of the program's output, and the program's exit status.
    case read(Fingerprint, status: Int32)
    /// Not readable, not started, or not ended in time.
    case unreadable(reason: String)
    /// The machine had no room for the question; it says nothing about the app.
    case notAsked(StartFailure)
}
