import DeviceShell
import Linux
import TestKit
import Vocabulary

/// What the environment asks of the campaign: `OFFSTAGE_ROUNDS` ends of the daemon in all, of
/// `OFFSTAGE_SEED`; of `OFFSTAGE_STAGES` and `OFFSTAGE_FAULTS` only those named (`a,b`).
enum CampaignSettings {
    static let rounds = CurrentProcess.environment("OFFSTAGE_ROUNDS").flatMap { Int($0) } ?? 10
    static let seed = FreshSeeds.first
    static let stages = Stage.possible.filter { isWanted($0.name, "OFFSTAGE_STAGES") }
    static let faults = Fault.allCases.filter { isWanted($0.rawValue, "OFFSTAGE_FAULTS") }

    /// So many ends of the daemon with one state directory; then it is looked at what is left.
    static let roundsOfAnAct = 25
    static let workers = 4
    static let mostRuns = 8

    static let daemon = """
        run-slots = \(mostRuns)
        history-lines = 100000
        wake-grant = 1h
        processing-grant = 14s
        processing-grant-charging = 14s
        expiry-warning = 10s
        stop-timeout = 500ms
        probe-limit = 1s
        back-off = 100ms
        back-off-limit = 400ms
        app-wakes-per-day = 1000000
        app-time-per-day = 1d
        device-wakes-per-day = 1000000
        device-time-per-day = 31d
        cpu-limit = 6400

        """
    /// The shortest time that processing has until it is asked to end: the grant without the
    /// warning. A daemon that had less to look at its commands would call them late.
    static let leastProcessing = Interval.seconds(4)

    /// All together are shared by the stages.
    static func rounds(of stage: Stage) -> Int {
        let place = stages.firstIndex { $0.name == stage.name } ?? 0
        return (rounds + place) / stages.count
    }

    private static func isWanted(_ name: String, _ variable: String) -> Bool {
        guard let text = CurrentProcess.environment(variable) else { return true }
        return text.split(separator: ",").contains { $0 == name }
    }
}

/// Where the daemon lives, and as whom.
struct Stage: Sendable, CustomStringConvertible {
    var name: String
    var options: [String] = []
    var user: User?
    /// Its state is on a small file system of its own.
    var isSmall = false
    /// What leaves its session is held together.
    var hasGroups = true

    var description: String { name }

    /// Those that this machine and whoever runs the tests can have: each step, somebody without
    /// rights, little room.
    static let possible: [Stage] = {
        var stages = ProcessBench.steps.map { step in
            let word = step.rawValue.replacing(" ", with: "-")
            return Stage(name: word, options: ["--step", word], hasGroups: step != .signals)
        }
        if Unprivileged.isPossible {
            stages.append(Stage(name: "user", user: Command.ordinaryUser, hasGroups: false))
        }
        if SmallDisk.isPossible {
            let hasGroups = stages.contains { $0.hasGroups }
            stages.append(Stage(name: "disk", isSmall: true, hasGroups: hasGroups))
        }
        return stages
    }()

    /// How any command may behave here: without cgroups nothing holds what leaves its session.
    var manners: [Manner] {
        [.quick, .busy, .forks, .fails, .crashes, .again, .ignores] + (hasGroups ? [.leaves] : [])
    }
}

/// What happens to the daemon, beside its clients.
enum Fault: String, CaseIterable, Sendable {
    /// SIGKILL, SIGTERM.
    case kill, term
    /// SIGKILL within 50 ms of a start.
    case young
    /// The next is started before the last is gone.
    case succession
    /// One more is started beside it.
    case second
    /// It stands still for a while.
    case stop
    /// Its keeper is killed.
    case keeper
    /// Its disk is full, or has room again.
    case disk
}
