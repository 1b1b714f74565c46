internal import DeviceCore
internal import Linux
internal import Vocabulary

/// What this machine can really do for background work (K12): each check with what was found,
/// what is lost, and how to mend it.
struct Doctor {
    private let daemon: Daemon

    init(_ daemon: Daemon) { self.daemon = daemon }

    func checks() -> [Value] {
        let checks =
            [processes, keeper, memory, pressure, files, lingering, sleep, waking, identity, bus]
            + settings
            + [store] + sensors
        return checks.map(\.report)
    }

    private var processes: Check {
        let step = daemon.control.step
        return Check(
            "process control",
            ok: step.lost.isEmpty,
            step.path.isEmpty ? step.name : "\(step.name) at \(step.path)",
            lost: step.lost.joined(separator: "; "),
            fix: step.refused.isEmpty ? "" : "better steps: " + step.refused.joined(separator: "; ")
        )
    }

    private var keeper: Check {
        let problem = daemon.keeperProblem
        return Check(
            "keeper",
            ok: problem == nil,
            problem.map { "not running: \($0)" } ?? "runs",
            lost: problem == nil ? "" : "frozen apps stay frozen should the daemon end"
        )
    }

    private var memory: Check {
        let step = daemon.control.step
        return Check(
            "memory limit",
            ok: step.limitsMemory,
            step.limitsMemory ? "kept by the kernel" : "watched by sampling",
            lost: step.limitsMemory ? "" : "an app may overshoot between two samples"
        )
    }

    private var pressure: Check {
        guard daemon.places.pressure != nil else {
            return Check("memory pressure", ok: true, "not asked for (--pressure off)")
        }
        guard let problem = daemon.pressureProblem else {
            return Check("memory pressure", ok: true, "reported by the kernel")
        }
        return Check(
            "memory pressure",
            ok: false,
            "not reported: \(problem.errno.text)",
            lost: "suspended apps do not end when memory is short",
            fix: Self.pressureFix(problem)
        )
    }

    private var files: Check {
        guard let problem = daemon.watchProblem else {
            return Check("watching files", ok: true, "told by the kernel")
        }
        return Check(
            "watching files",
            ok: false,
            "\(problem)",
            lost: "manifests, settings and uses are looked at only when something else happens",
            fix: "raise fs.inotify.max_user_instances and fs.inotify.max_user_watches (sysctl)"
        )
    }

    /// The file is there for everybody; to be told by it an ordinary user needs Linux 6.5.
    static func pressureFix(_ problem: LinuxError) -> String {
        problem.errno == .permission || problem.errno == .access
            ? "an ordinary user needs Linux 6.5 or later" : "boot with psi=1"
    }

    private var lingering: Check {
        let user = User.current()?.name
        return .lingering(
            user: user,
            hasLogind: Files.exists("/run/systemd/system"),
            lingers: user.map { Files.exists("/var/lib/systemd/linger/\($0)") } ?? false
        )
    }

    private var sleep: Check { .sleep(canHold: daemon.places.wakeLock.isAvailable) }

    private var identity: Check {
        let isHeld = Peer.isHeldByKernel
        return Check(
            "identity of apps",
            ok: true,
            "level none: by the process that connects, "
                + (isHeld ? "held by the kernel (pidfd)" : "by its number and start time")
                + "; protects against mistakes, not against malice of the same user"
        )
    }

    private var bus: Check {
        let problem = daemon.session?.problem
        return Check(
            "session bus",
            ok: problem == nil,
            problem ?? "it says there where its socket is",
            lost: problem == nil
                ? "" : "who looks for it there does not find it; apps use its socket all the same"
        )
    }

    private var waking: Check {
        let wakes = daemon.world.wakesTheMachine
        return Check(
            "waking the machine",
            ok: wakes,
            wakes ? "a clock that wakes it" : "not possible here",
            lost: wakes ? "" : "what is due while it sleeps is done when it wakes by itself",
            fix: wakes
                ? "" : "it takes a real-time clock and the capability to wake (CAP_WAKE_ALARM)"
        )
    }

    private var settings: [Check] {
        let path = daemon.places.configuration
        let administrator =
            daemon.administratorProblems.isEmpty
            ? []
            : Check.settings(at: daemon.places.administrator, daemon.administratorProblems)
        return Check.settings(at: path, daemon.settingsProblems) + administrator
            + daemon.device.strangersInSettings.map { app in
                Check(
                    "settings",
                    ok: false,
                    "\(path): section [app \(app)]: there is no such app",
                    lost: "what it sets has no effect",
                    fix: "offstage apps lists the apps; remove the section, or mend its name"
                )
            }
    }

    private var store: Check {
        let storage = daemon.device.conditions[.storage]
        return Check(
            "store",
            ok: storage.value == 0,
            "\(daemon.places.database): \(Condition.storage.row.word(storage.value))",
            lost: storage.value == 0 ? "" : "nothing is started until it takes writes",
            fix: storage.value == 0 ? "" : "free some space"
        )
    }

    private var sensors: [Check] {
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
            return Check(
                "sensor " + condition.row.name,
                ok: !state.isLost,
                found,
                fix: state.source == nil
                    ? "offstage set \(condition.row.name) VALUE plays it by hand" : ""
            )
        }
    }
}
