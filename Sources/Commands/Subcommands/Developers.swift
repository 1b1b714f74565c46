import AppProtocol
import BuildIdentity
import CommandTable
import DeviceCore
import Linux
import Vocabulary

/// Replaying logs, running the daemon.
extension OffstageProgram {
    static let replay = Subcommand(
        "replay",
        "replay a recorded event log and compare the decisions",
        forms: ["LOG"],
        operands: 1...1,
        details: [
            "The daemon records every event with its decisions. The build that wrote a log makes "
                + "the same decisions again, byte for byte. Another build says that it differs, "
                + "and the first decision that is different is shown. The exit status is 1 if "
                + "there is one."
        ],
        examples: [
            Example(
                "replay ~/.local/state/offstage/events.log",
                "Check whether this build would decide the same."
            )
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let path = invocation.operands[0]
        let replay: Replay
        do {
            replay = try Replay(try read(log: path))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.failed, "\(path.printable): \(describe(error))")
        }
        invocation.show(replay.report) { _ in replay.print(invocation.console) }
        if replay.difference != nil {
            throw Failure(.failed, "the decisions differ")
        }
    }

    private static let longestLog = 1 << 31

    private static func read(log path: String) throws(Failure) -> [UInt8] {
        do {
            return try Files.read(path, limit: longestLog)
        } catch  where error.errno == .tooLarge {
            throw Failure(
                .failed,
                "\(path.printable) has more than \(longestLog) bytes, which is no event log",
                fix: "Name one of the daemon's: events.log, in its state directory."
            )
        } catch {
            throw Failure(
                error.errno == .noEntry ? .notFound : .failed,
                "\(path.printable): \(error.errno.text)"
            )
        }
    }

    private static func describe(_ error: any Error) -> String {
        if case .unreadable(let reason)? = error as? Replay.Problem { return reason }
        return "\(error)"
    }

    static let daemon = Subcommand(
        "daemon",
        "run the daemon by hand",
        forms: ["[-- OPTION...]"],
        operands: 0...64,
        options: [
            OptionRow("background", "return when the daemon is ready, and leave it running")
        ],
        details: [
            "Executes the offstaged beside this program, with the given options, in this terminal. "
                + "\"systemctl --user start offstaged\" runs it under systemd.",
            "With --background it runs in a session of its own. What it says goes to daemon.log "
                + "beside its socket.",
        ],
        examples: [
            Example("daemon", "Start the daemon in this terminal."),
            Example("daemon --background", "Start it where there is no systemd."),
            Example("daemon -- --help", "Show its options."),
        ],
        takesCommand: true
    ) { invocation throws(Failure) in
        let own = Files.linkTarget("/proc/self/exe") ?? ""
        let beside = Files.directory(of: own) + "/offstaged"
        let search = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        guard
            let path = Files.isExecutable(beside)
                ? beside : Files.executable("offstaged", searchPath: search)
        else {
            throw Failure(
                .notFound,
                "offstaged is neither beside this program nor in PATH",
                fix: "Build or install it."
            )
        }
        if invocation.options.has("background") {
            let daemon = try BackgroundDaemon.begin(path, invocation.operands)
            return try daemon.waitUntilReady(invocation.console, invocation.patience)
        }
        do {
            try CurrentProcess.replace(
                path,
                arguments: ["offstaged"] + invocation.operands,
                environment: CurrentProcess.environment()
            )
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }
}

extension Replay {
    fileprivate var report: Value {
        var fields: ValueMap = [
            "build": .string(build), "sameBuild": .bool(build == Version.build),
            "events": .integer(Int64(events)), "equal": .bool(difference == nil),
            "cutShort": .bool(isCutShort),
        ]
        if let difference {
            fields["difference"] = [
                "event": .integer(Int64(difference.event)), "what": .string("\(difference.what)"),
                "recorded": .list(difference.recorded.map { .string("\($0)") }),
                "decided": .list(difference.decided.map { .string("\($0)") }),
            ]
        }
        return .map(fields)
    }

    fileprivate func print(_ console: Console) {
        console.print(
            build == Version.build
                ? "Written by this build, \(build)."
                : "Written by build \(build.printable); this is \(Version.build)."
        )
        if isCutShort {
            console.print("The log ends in the middle of an entry, as after a loss of power.")
        }
        guard let difference else {
            console.print("\(events) events, all decided as recorded.")
            return
        }
        console.print("Event \(difference.event) has a different decision: \(difference.what)")
        for decision in difference.recorded where !difference.decided.contains(decision) {
            console.print(console.styled("  - \(decision)", .red))
        }
        for decision in difference.decided where !difference.recorded.contains(decision) {
            console.print(console.styled("  + \(decision)", .green))
        }
    }
}
