/// One row for each key of the `[X-Offstage]` group: the parser, `offstage lint` and the documents
/// all follow this table.
package struct ManifestKey: Sendable {
    package let name: String
    /// What its value is: `time`, `list of modes`.
    package let type: String
    /// What holds without it, in words; empty if nothing does.
    package let defaultText: String
    /// It needs one of these modes; empty if it needs none.
    package let modes: [BackgroundMode]
    /// It has no effect without one of these keys; empty if it needs none.
    package let companions: [String]
    package let documentation: String

    let apply: @Sendable (DesktopText, inout AppManifest) throws(Problem) -> Void

    /// All keys, in the order of the documents.
    package static let all: [ManifestKey] = general + commands + results + limits + wakeRules

    package static func named(_ name: String) -> ManifestKey? { all.first { $0.name == name } }

    private init<Result>(
        _ name: String,
        _ type: ManifestType<Result>,
        default defaultText: String = "",
        modes: [BackgroundMode] = [],
        with companions: [String] = [],
        _ documentation: String,
        _ set: @escaping @Sendable (inout AppManifest, Result) -> Void
    ) {
        self.name = name
        self.type = type.name
        self.defaultText = defaultText
        self.modes = modes
        self.companions = companions
        self.documentation = documentation
        apply = { text, manifest throws(Problem) in set(&manifest, try type.read(text)) }
    }

    private static let general: [ManifestKey] = [
        ManifestKey(
            "BackgroundModes",
            .modes,
            default: "none",
            "What may wake the app; `offstage modes` lists the modes."
        ) { $0.modes = $1 },
        ManifestKey(
            "PermittedTaskIdentifiers",
            .identifiers,
            default: "none",
            "The identifiers that the app may submit tasks with; a * at the end of one stands for "
                + "any ending."
        ) { $0.permittedTaskIdentifiers = $1 },
        ManifestKey(
            "Extensions",
            .paths,
            default: "none",
            "Executables of helper programs of this app: they may submit requests and hold "
                + "expiring activities; the app itself is what is launched. A script may be one."
        ) { $0.extensions = $1 },
        ManifestKey(
            "Environment",
            .environment,
            default: "none",
            "Variables for the app's processes, as NAME=value;. Names that begin with `OFFSTAGE_` "
                + "are Offstage's own. The values stand in the event log too: no place for a "
                + "password."
        ) { $0.environment = $1 },
        ManifestKey(
            "PassEnvironment",
            .variableNames,
            default: "none",
            "Names of variables taken over from the daemon, beside PATH HOME USER LANG LC_* XDG_* "
                + "DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY; a * may end a name. Those "
                + "that begin with `OFFSTAGE_` are never taken over."
        ) { $0.passEnvironment = $1 },
    ]

    private static let commands: [ManifestKey] = [
        ManifestKey(
            "RefreshCommand",
            .command,
            modes: [.fetch],
            "A program that knows nothing of Offstage, run to refresh the app's content; its exit "
                + "status is the completion, SIGTERM the expiration."
        ) { $0.refreshCommand = $1 },
        ManifestKey(
            "ProcessingCommand",
            .command,
            modes: [.processing],
            "The same for long work while the device is idle, such as a backup."
        ) { $0.processingCommand = $1 },
        ManifestKey(
            "RefreshInterval",
            .time,
            default: "15m",
            modes: [.fetch],
            with: ["RefreshCommand"],
            "The least time between two runs of RefreshCommand."
        ) { $0.refreshInterval = $1 },
        ManifestKey(
            "ProcessingInterval",
            .time,
            default: "1d",
            modes: [.processing],
            with: ["ProcessingCommand"],
            "The least time between two runs of ProcessingCommand."
        ) { $0.processingInterval = $1 },
        ManifestKey(
            "ProcessingNeeds",
            .needs,
            default: "none",
            modes: [.processing],
            with: ["ProcessingCommand"],
            "What must hold while ProcessingCommand runs: external power, a network, an unmetered "
                + "network."
        ) { $0.processingNeeds = $1 },
        ManifestKey(
            "WhenInterrupted",
            .interruption,
            default: "terminate",
            modes: [.processing],
            with: ["ProcessingCommand"],
            "What happens to ProcessingCommand when its time is over: terminate sends SIGTERM and "
                + "runs it again later; freeze lets it go on in the next window, for a day at most."
        ) { $0.whenInterrupted = $1 },
    ]

    private static let anyCommand = ["RefreshCommand", "ProcessingCommand"]

    private static let results: [ManifestKey] = [
        ManifestKey(
            "NewDataFrom",
            .resultSource,
            default: "exit",
            modes: [.fetch, .processing],
            with: anyCommand,
            "How a run with new data is known: by its exit status alone, or because a file, or "
                + "what a program prints, is another before and after it."
        ) { $0.newDataFrom = $1 },
        ManifestKey(
            "FailedFrom",
            .commandSource,
            modes: [.fetch, .processing],
            with: anyCommand,
            "A program run after a run whose exit status says nothing: if it fails, the run failed."
        ) { $0.failedFrom = $1 },
        ManifestKey(
            "NoDataExit",
            .statuses,
            default: "none",
            modes: [.fetch, .processing],
            with: anyCommand,
            "Exit statuses that mean that there was nothing new."
        ) { $0.noDataExit = $1 },
        ManifestKey(
            "RetryExit",
            .retryStatuses,
            default: "75;",
            modes: [.fetch, .processing],
            with: anyCommand,
            "Exit statuses that ask for another run soon."
        ) { $0.retryExit = $1 },
        ManifestKey(
            "UseFrom",
            .useSource,
            "How use of a program without our library is seen: a process of this executable, or a "
                + "change of this file, our own launches not counted. Without it the week rule and "
                + "the prediction do not apply."
        ) { $0.useFrom = $1 },
    ]

    private static let limits: [ManifestKey] = [
        ManifestKey(
            "NeedsNetwork",
            .boolean,
            default: "true",
            modes: [.fetch],
            "Whether a refresh waits for a working network."
        ) { $0.needsNetwork = $1 },
        ManifestKey(
            "MemoryLimit",
            .size,
            default: "the system's",
            "The memory that the app may use in the background: at least 1M, at most the system's "
                + "limit."
        ) { $0.memoryLimit = $1 },
        ManifestKey(
            "StopTimeout",
            .time,
            default: "the system's",
            "How long the app may take to end after SIGTERM, within the system's limit."
        ) { $0.stopTimeout = $1 },
    ]

    private static let wakeRules: [ManifestKey] =
        BackgroundMode.allCases
        .filter(\.description.hasWakeRules)
        .map { mode in
            ManifestKey(
                "WakeOn-\(mode.rawValue)",
                .matchRules,
                default: "none",
                modes: [mode],
                "The D-Bus signals that wake the app in its mode \(mode.rawValue), as match rules."
            ) { manifest, rules in
                manifest.wakeOn += rules.map { WakeRule(mode: mode, rule: $0) }
            }
        }
}
