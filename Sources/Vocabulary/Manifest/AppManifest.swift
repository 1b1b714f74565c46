/// What an app declares: its desktop entry and the `[X-Offstage]` group of it.
///
/// ``ManifestKey`` says what each key means; ``ManifestParser`` reads one from a file. A transient
/// app (`offstage submit -- COMMAND`) is built by the initializer.
package struct AppManifest: Hashable, Sendable, Codable {
    package var id: AppID
    package var name: String
    /// The file it was read from; empty for a transient app.
    @OmittedIfDefault package var file: String
    /// The argument list of a launch by the user, field codes expanded as for no files.
    package var exec: [String]?
    package var tryExec: String?
    /// The working directory; `Path` in the file.
    package var directory: String?
    @OmittedIfDefault package var terminal: Bool
    @OmittedIfDefault package var noDisplay: Bool
    /// Ascending, each once.
    @OmittedIfDefault package var modes: [BackgroundMode]
    /// Names, or beginnings of names that end in `*`.
    @OmittedIfDefault package var permittedTaskIdentifiers: [String]
    /// Absolute paths.
    @OmittedIfDefault package var extensions: [String]
    @OmittedIfDefault package var environment: [EnvironmentVariable]
    /// Names, or beginnings of names that end in `*`.
    @OmittedIfDefault package var passEnvironment: [String]
    package var refreshCommand: [String]?
    package var processingCommand: [String]?
    package var refreshInterval: Interval?
    package var processingInterval: Interval?
    @OmittedIfDefault package var processingNeeds: Needs
    @OmittedIfDefault package var whenInterrupted: Interruption
    @OmittedIfDefault package var newDataFrom: ResultSource
    package var failedFrom: [String]?
    @OmittedIfDefault package var noDataExit: [Int32]
    package var retryExit: [Int32]
    package var useFrom: UseSource?
    package var needsNetwork: Bool
    /// In bytes.
    package var memoryLimit: Int64?
    package var stopTimeout: Interval?
    @OmittedIfDefault package var wakeOn: [WakeRule]

    package init(
        id: AppID,
        name: String,
        file: String = "",
        exec: [String]? = nil,
        tryExec: String? = nil,
        directory: String? = nil,
        terminal: Bool = false,
        noDisplay: Bool = false,
        modes: [BackgroundMode] = [],
        permittedTaskIdentifiers: [String] = [],
        extensions: [String] = [],
        environment: [EnvironmentVariable] = [],
        passEnvironment: [String] = [],
        refreshCommand: [String]? = nil,
        processingCommand: [String]? = nil,
        refreshInterval: Interval? = nil,
        processingInterval: Interval? = nil,
        processingNeeds: Needs = Needs(),
        whenInterrupted: Interruption = .terminate,
        newDataFrom: ResultSource = .exit,
        failedFrom: [String]? = nil,
        noDataExit: [Int32] = [],
        retryExit: [Int32] = [75],
        useFrom: UseSource? = nil,
        needsNetwork: Bool = true,
        memoryLimit: Int64? = nil,
        stopTimeout: Interval? = nil,
        wakeOn: [WakeRule] = []
    ) {
        self.id = id
        self.name = name
        self.file = file
        self.exec = exec
        self.tryExec = tryExec
        self.directory = directory
        self.terminal = terminal
        self.noDisplay = noDisplay
        self.modes = BackgroundMode.allCases.filter(modes.contains)
        self.permittedTaskIdentifiers = permittedTaskIdentifiers
        self.extensions = extensions
        self.environment = environment
        self.passEnvironment = passEnvironment
        self.refreshCommand = refreshCommand
        self.processingCommand = processingCommand
        self.refreshInterval = refreshInterval
        self.processingInterval = processingInterval
        self.processingNeeds = processingNeeds
        self.whenInterrupted = whenInterrupted
        self.newDataFrom = newDataFrom
        self.failedFrom = failedFrom
        self.noDataExit = noDataExit
        self.retryExit = retryExit
        self.useFrom = useFrom
        self.needsNetwork = needsNetwork
        self.memoryLimit = memoryLimit
        self.stopTimeout = stopTimeout
        self.wakeOn = wakeOn
    }

    /// Whether `PermittedTaskIdentifiers` lists `identifier`, by name or by a beginning with `*`.
    package func permits(identifier: String) -> Bool {
        Self.permits(identifier, by: permittedTaskIdentifiers)
    }

    /// Of a part of it: the whole would be copied to be asked.
    package static func permits(_ identifier: String, by permitted: [String]) -> Bool {
        permitted.contains {
            guard $0.utf8.last == UInt8(ascii: "*") else { return $0.hasSameBytes(as: identifier) }
            return identifier.utf8.count >= $0.utf8.count
                && identifier.hasSameBytes(as: $0, upTo: $0.utf8.count - 1)
        }
    }
}

/// One variable that an app's processes get.
package struct EnvironmentVariable: Hashable, Sendable, Codable {
    package var name: String
    package var value: String

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }

    /// Names that begin so are ours: by them a process knows its app and its daemon.
    package static let ownPrefix = "OFFSTAGE_"

    /// Whether nobody else may set a variable of this name, or pass one on.
    package static func isOurs(_ name: some StringProtocol) -> Bool { name.hasPrefix(ownPrefix) }
}

/// What must hold for a processing command to run.
package struct Needs: Hashable, Sendable, Codable, Defaulted {
    package static var defaultValue: Needs { Needs() }

    @OmittedIfDefault package var power: Bool
    @OmittedIfDefault package var network: Bool
    @OmittedIfDefault package var unmetered: Bool
    /// The data that the screen lock protects. No manifest asks for it: requests do.
    @OmittedIfDefault package var unlocked: Bool

    package init(
        power: Bool = false,
        network: Bool = false,
        unmetered: Bool = false,
        unlocked: Bool = false
    ) {
        (self.power, self.network) = (power, network)
        (self.unmetered, self.unlocked) = (unmetered, unlocked)
    }
}

/// What happens to a processing command whose time is over.
package enum Interruption: String, CaseIterable, Hashable, Sendable, Codable, Defaulted {
    package static var defaultValue: Interruption { .terminate }

    /// SIGTERM, and the request is pending again.
    case terminate
    /// It goes on in the next window, for a day at most.
    case freeze
}

/// How it is known whether a run brought new data when its exit status does not tell.
package enum ResultSource: Hashable, Sendable, Codable, Defaulted {
    package static var defaultValue: ResultSource { .exit }

    case exit
    /// The file at this path changed.
    case file(String)
    /// What this program prints changed.
    case command([String])
}

/// How use of a program without our library is seen.
package enum UseSource: Hashable, Sendable, Codable {
    /// A process that runs this executable.
    case exec(String)
    /// A change of this file.
    case file(String)
}

/// A D-Bus signal that wakes an app of a mode.
package struct WakeRule: Hashable, Sendable, Codable {
    package var mode: BackgroundMode
    /// A match rule as the D-Bus specification writes them.
    package var rule: String

    package init(mode: BackgroundMode, rule: String) { (self.mode, self.rule) = (mode, rule) }
}
