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
            "Task identifiers that the app may submit; a trailing * matches any ending."
        ) { $0.permittedTaskIdentifiers = $1 },
        ManifestKey(
            "Extensions",
            .paths,
            default: "none",
            "Executables of helper programs of this app, possibly scripts. They may submit "
                + "requests and hold expiring activities; the app itself is launched."
        ) { $0.extensions = $1 },
        ManifestKey(
            "Environment",
            .environment,
            default: "none",
            "Environment variables for the app's processes, as NAME=value;. A value may begin with "
                + "~/. Names that begin with `OFFSTAGE_` are reserved. The values are also "
                + "recorded in the event log, so do not put passwords here."
        ) { $0.environment = $1 },
        ManifestKey(
            "PassEnvironment",
            .variableNames,
            default: "none",
            "Names of variables inherited from the daemon, in addition to PATH HOME USER LANG "
                + "LC_* XDG_* DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY; a name may end "
                + "in *. Names that begin with `OFFSTAGE_` are never inherited."
        ) { $0.passEnvironment = $1 },
    ]

    private static let commands: [ManifestKey] = [
        ManifestKey(
            "RefreshCommand",
            .command,
            modes: [.fetch],
            "A command that refreshes the app's content and needs no support for Offstage: its "
                + "exit status is the completion, SIGTERM the expiration."
        ) { $0.refreshCommand = $1 },
        ManifestKey(
            "ProcessingCommand",
            .command,
            modes: [.processing],
            "The same for long work, such as a backup, while the device is idle."
        ) { $0.processingCommand = $1 },
        ManifestKey(
            "RefreshInterval",
            .time,
            default: "15m",
            modes: [.fetch],
            with: ["RefreshCommand"],
            "The minimum time between two runs of RefreshCommand."
        ) { $0.refreshInterval = $1 },
        ManifestKey(
            "ProcessingInterval",
            .time,
            default: "1d",
            modes: [.processing],
            with: ["ProcessingCommand"],
            "The minimum time between two runs of ProcessingCommand; after a failure, `back-off` "
                + "applies instead."
        ) { $0.processingInterval = $1 },
        ManifestKey(
            "ProcessingNeeds",
            .needs,
            default: "none",
            modes: [.processing],
            with: ["ProcessingCommand"],
            "What ProcessingCommand requires while it runs: external power, a network, an "
                + "unmetered network."
        ) { $0.processingNeeds = $1 },
        ManifestKey(
            "WhenInterrupted",
            .interruption,
            default: "terminate",
            modes: [.processing],
            with: ["ProcessingCommand"],
            "What happens to ProcessingCommand when its time is over: terminate sends SIGTERM and "
                + "runs it again later; freeze suspends it and continues it in the next window, "
                + "within a day at most."
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
            "How a run with new data is recognised: by its exit status alone, or by comparing a "
                + "file, or the output of a program, before and after the run."
        ) { $0.newDataFrom = $1 },
        ManifestKey(
            "FailedFrom",
            .commandSource,
            modes: [.fetch, .processing],
            with: anyCommand,
            "A program that is run after the command, if the exit status is not conclusive; if it "
                + "fails, the run has failed."
        ) { $0.failedFrom = $1 },
        ManifestKey(
            "NoDataExit",
            .statuses,
            default: "none",
            modes: [.fetch, .processing],
            with: anyCommand,
            "Exit statuses that mean that there is no new data."
        ) { $0.noDataExit = $1 },
        ManifestKey(
            "RetryExit",
            .retryStatuses,
            default: "75;",
            modes: [.fetch, .processing],
            with: anyCommand,
            "Exit statuses that request another run soon."
        ) { $0.retryExit = $1 },
        ManifestKey(
            "UseFrom",
            .useSource,
            "How use of a program that does not link the library is detected: a process with this "
                + "executable, or a change of this file. Offstage's own launches do not count. "
                + "Without this key the week rule and the prediction do not apply."
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
            "Memory that the app may use in the background: at least 1M, at most the system's "
                + "limit."
        ) { $0.memoryLimit = $1 },
        ManifestKey(
            "StopTimeout",
            .time,
            default: "the system's",
            "How long the app may take to exit after SIGTERM, within the system's limit."
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
                "D-Bus signals that will wake the app in mode \(mode.rawValue), as match rules. "
                    + "Not used by this version."
            ) { manifest, rules in
                manifest.wakeOn += rules.map { WakeRule(mode: mode, rule: $0) }
            }
        }
}
