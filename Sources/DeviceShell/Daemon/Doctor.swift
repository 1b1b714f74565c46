internal import DeviceCore
internal import Linux
internal import Vocabulary

/// What this machine can really do for background work (K12): each check with what was found,
/// what is lost, and how to mend it.
struct Doctor {
    private let daemon: Daemon

    init(_ daemon: Daemon) { self.daemon = daemon }

    func checks() -> [Value] {
        [processes, keeper, memory, pressure, lingering, sleep, identity, settings, store] + sensors
    }

    private func check(
        _ name: String,
        ok: Bool,
        _ found: String,
        lost: String = "",
        fix: String = ""
    ) -> Value {
        var fields: [(String, Value)] = [
            ("check", .string(name)), ("ok", .bool(ok)), ("found", .string(found)),
        ]
        if !lost.isEmpty { fields.append(("lost", .string(lost))) }
        if !fix.isEmpty { fields.append(("fix", .string(fix))) }
        return .map(ValueMap(fields))
    }

    private var processes: Value {
        let step = daemon.control.step
        return check(
            "process control",
            ok: step.lost.isEmpty,
            step.path.isEmpty ? step.name : "\(step.name) at \(step.path)",
            lost: step.lost.joined(separator: "; "),
            fix: step.refused.isEmpty ? "" : "better steps: " + step.refused.joined(separator: "; ")
        )
    }

    private var keeper: Value {
        let problem = daemon.keeperProblem
        return check(
            "keeper",
            ok: problem == nil,
            problem.map { "not running: \($0)" } ?? "runs",
            lost: problem == nil ? "" : "frozen apps stay frozen should the daemon end"
        )
    }

    private var memory: Value {
        let step = daemon.control.step
        return check(
            "memory limit",
            ok: step.limitsMemory,
            step.limitsMemory ? "kept by the kernel" : "watched by sampling",
            lost: step.limitsMemory ? "" : "an app may overshoot between two samples"
        )
    }

    private var pressure: Value {
        guard let problem = daemon.pressureProblem else {
            return check("memory pressure", ok: true, "reported by the kernel")
        }
        return check(
            "memory pressure",
            ok: false,
            "not reported: \(problem.errno.text)",
            lost: "suspended apps do not end when memory is short",
            fix: Self.pressureFix(problem)
        )
    }

    /// The file is there for everybody; to be told by it an ordinary user needs Linux 6.5.
    static func pressureFix(_ problem: LinuxError) -> String {
        problem.errno == .permission || problem.errno == .access
            ? "an ordinary user needs Linux 6.5 or later" : "boot with psi=1"
    }

    /// Without lingering the user's processes end with the last login session.
    private var lingering: Value {
        guard let user = User.current() else {
            return check("lingering", ok: false, "the user is not in the password file")
        }
        guard Files.exists("/run/systemd/system") else {
            return check("lingering", ok: true, "not needed: no systemd logind here")
        }
        let lingers = Files.exists("/var/lib/systemd/linger/\(user.name)")
        return check(
            "lingering",
            ok: lingers,
            lingers ? "on" : "off",
            lost: lingers ? "" : "background work ends when you log out",
            fix: lingers ? "" : "loginctl enable-linger \(user.name)"
        )
    }

    private var sleep: Value {
        let holds = daemon.places.wakeLock.isAvailable
        return check(
            "staying awake during a run",
            ok: holds,
            holds ? "kernel wake locks" : "not possible here",
            lost: holds ? "" : "a machine that goes to sleep interrupts a run; it goes on later"
        )
    }

    private var identity: Value {
        check(
            "identity of apps",
            ok: true,
            "by the process that was started (pid and start time); protects against mistakes, "
                + "not against malice of the same user"
        )
    }

    private var settings: Value {
        let problems = daemon.settingsProblems
        return check(
            "settings",
            ok: problems.isEmpty,
            problems.isEmpty
                ? daemon.places.configuration
                : problems.map(\.description).joined(separator: "; "),
            lost: problems.isEmpty ? "" : "the file is not in force",
            fix: problems.isEmpty ? "" : "mend \(daemon.places.configuration)"
        )
    }

    private var store: Value {
        let storage = daemon.device.conditions[.storage]
        return check(
            "store",
            ok: storage.value == 0,
            "\(daemon.places.database): \(Condition.storage.row.word(storage.value))",
            lost: storage.value == 0 ? "" : "nothing is started until it takes writes",
            fix: storage.value == 0 ? "" : "free some space"
        )
    }

    private var sensors: [Value] {
        Condition.allCases.filter { $0 != .storage }.map { condition in
            let state = daemon.device.conditions[condition]
            let value = condition.row.word(state.value)
            let found: String
            if state.isLost {
                found = "lost; taken as \(value)"
            } else if let source = state.source {
                found = "\(value) (\(source.words))"
            } else {
                found = "no sensor; taken as \(value)"
            }
            return check(
                "sensor " + condition.row.name,
                ok: !state.isLost,
                found,
                fix: state.source == nil
                    ? "offstage set \(condition.row.name) VALUE plays it by hand" : ""
            )
        }
    }
}
