internal import DeviceCore
internal import Linux
internal import Vocabulary

/// What this machine can really do for background work (K12): each check with what was found,
/// what is lost, and how to mend it.
struct Doctor {
    private let daemon: Daemon

    init(_ daemon: Daemon) { self.daemon = daemon }

    var checks: [Check] {
        manifests + [
            processes, keeper, memory, pressure, processorPressure, files, desktopUnits, lingering,
            sleep, waking, identity, bus, services,
        ]
            + network + settings + [store, starting] + strays + sensors + xServer
    }

    private var manifests: [Check] {
        let searched = daemon.paths.applications
        return Check.manifests(
            daemon.device.invalidManifests,
            usable: daemon.device.usableManifests,
            searched: searched,
            unreadable: DesktopFiles(directories: searched).problems().map {
                "\($0.subject): \($0.errno.text)"
            },
            passedOver: daemon.manifestsPassedOver
        )
    }

    private var processes: Check {
        let step = daemon.control.step
        guard step.missing.isEmpty else {
            return Check(
                "process control",
                ok: false,
                "\(step.name), but somebody has removed \(step.missing.joined(separator: ", "))",
                lost: "nothing yet: what is started next makes it again",
                fix: "should nothing start: systemctl --user restart offstaged.service"
            )
        }
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
            lost: problem == nil
                ? ""
                : "should the daemon end, frozen apps stay frozen and logs grow without a limit",
            fix: problem == nil
                ? "" : "it is retried automatically; or: systemctl --user restart offstaged.service"
        )
    }

    private var memory: Check {
        let step = daemon.control.step
        return Check(
            "memory limit",
            ok: step.limitsMemory,
            step.limitsMemory ? "kept by the kernel" : "watched by sampling",
            lost: step.limitsMemory ? "" : "an app may overshoot between two samples",
            fix: step.limitsMemory
                ? ""
                : "systemctl --user enable --now offstaged.service, on a system that boots with "
                    + "cgroup 2 only (systemd.unified_cgroup_hierarchy=1)"
        )
    }

    private var pressure: Check {
        guard daemon.paths.pressure != nil else {
            return Check("memory pressure", ok: true, "turned off (--pressure off)")
        }
        guard let problem = daemon.conditionSources?.pressureProblem else {
            return Check("memory pressure", ok: true, "reported by the kernel")
        }
        return Check(
            "memory pressure",
            ok: false,
            "not reported: \(problem.errno.text)",
            lost: "suspended apps are not terminated when memory is low",
            fix: Self.pressureFix(problem)
        )
    }

    private var processorPressure: Check {
        let name = "processor pressure"
        guard let path = daemon.paths.cpuPressure else {
            return Check(name, ok: true, "turned off (--cpu-pressure off)")
        }
        do throws(LinuxError) {
            _ = try Pressure(readingFrom: path)
            return Check(name, ok: true, "reported by the kernel")
        } catch {
            return Check(
                name,
                ok: false,
                "not reported: \(error.errno.text)",
                lost: "where no source reports use of the device, its load alone is the estimate",
                fix: Self.pressureFix(error)
            )
        }
    }

    private var files: Check {
        guard let problem = daemon.watchProblem else {
            return Check("watching files", ok: true, "reported by the kernel")
        }
        return Check(
            "watching files",
            ok: false,
            "\(problem)",
            lost: "changes of manifests, settings and uses are noticed only at the next event",
            fix: "as root: sysctl -w fs.inotify.max_user_instances=1024 "
                + "fs.inotify.max_user_watches=1048576"
        )
    }

    private var desktopUnits: Check {
        let name = "apps of the desktop"
        guard let path = daemon.paths.appSlice, let sees = daemon.machine.seesDesktopUnits else {
            return Check(name, ok: true, "turned off (--app-slice off)")
        }
        return Check(
            name,
            ok: sees,
            sees ? "their units are watched in \(path)" : "no user manager of systemd (\(path))",
            lost: sees ? "" : "a start by the desktop is a use only for apps with UseFrom=",
            fix: sees ? "" : "as root: apt install libpam-systemd; then log out and in again"
        )
    }

    /// The file is there for everybody; to be told by it an ordinary user needs Linux 6.5.
    static func pressureFix(_ problem: LinuxError) -> String {
        problem.errno == .permission || problem.errno == .access
            ? "an ordinary user needs Linux 6.5 or later"
            : "boot with psi=1 (as root: add it to GRUB_CMDLINE_LINUX in /etc/default/grub; "
                + "update-grub)"
    }

    private var lingering: Check {
        let user = User.current()
        return .lingering(user: user?.name, lingers: user?.lingers)
    }

    private var sleep: Check {
        .sleep(
            by: daemon.machine.stayAwake.means(
                hasLogind: daemon.conditionSources?.isThere(.logind) ?? false
            )
        )
    }

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
        let problem = daemon.sessionBus.problem ?? daemon.discovery?.problem
        return Check(
            "session bus",
            ok: problem == nil,
            problem ?? "the address of the socket is published there",
            lost: problem == nil
                ? "" : "programs cannot look up the address there; apps still use the socket",
            fix: problem == nil
                ? "" : "as root: apt install dbus-user-session; then log out and in again"
        )
    }

    private var services: Check {
        let problem = daemon.systemBus.problem
        return Check(
            "system bus",
            ok: problem == nil,
            problem ?? "UPower, NetworkManager, power-profiles-daemon and logind are asked there",
            lost: problem == nil
                ? "" : "only what the kernel reports is known of battery, network, lock and use",
            fix: problem == nil ? "" : "as root: apt install dbus"
        )
    }

    private var waking: Check {
        .waking(
            byOwnAlarm: daemon.machine.wakesTheMachine,
            hasClock: Self.hasAlarmClock(),
            helper: WakeHelper.share().map { share in
                Check.Helper(
                    share: share,
                    isAsked: daemon.machine.wakeHelper.hasAnswered,
                    problem: daemon.machine.wakeHelper.problem
                )
            }
        )
    }

    /// A clock that cannot wake the machine has no such file.
    private static func hasAlarmClock() -> Bool {
        let clocks = (try? Files.list("/sys/class/rtc")) ?? []
        return clocks.contains { Files.exists("/sys/class/rtc/\($0)/wakealarm") }
    }

    private var settings: [Check] {
        let (path, theirs) = (daemon.paths.configuration, daemon.paths.administrator)
        let problems = daemon.administratorProblems
        let administrator =
            Files.exists(theirs) || !problems.isEmpty
            ? Check.settings(at: theirs, isThere: true, problems) : []
        func has(_ path: String, _ app: AppID) -> Bool {
            let text = try? ConfigurationText(file: path)
            return text?.entries.contains { $0.section == "app \(app)" } == true
        }
        return Check.settings(at: path, isThere: Files.exists(path), daemon.settingsProblems)
            + administrator
            + daemon.device.strangersInSettings.map { app in
                Check(
                    "settings",
                    ok: false,
                    "\(has(theirs, app) ? theirs : path): section [app \(app)]: unknown app",
                    lost: "its settings have no effect",
                    fix: "offstage apps lists the apps; remove the section, or correct its name"
                )
            }
    }

    private var network: [Check] { daemon.machine.transfers?.checks ?? [] }

    private var store: Check {
        if let loss = daemon.machine.state.loss {
            return Check(
                "store",
                ok: false,
                "\(loss)",
                lost: "nothing is stored, and nothing is started",
                fix: loss.fix
            )
        }
        let storage = daemon.device.conditions[.storage]
        return Check(
            "store",
            ok: storage.value == 0,
            "\(daemon.paths.database): \(Condition.storage.row.word(storage.value))",
            lost: storage.value == 0 ? "" : "nothing is started until it can be written",
            fix: storage.value == 0 ? "" : daemon.device.conditions.storageFix
        )
    }

    private var starting: Check {
        .starting(daemon.device.startBlock, at: Clocks.boot())
    }

    private var strays: [Check] {
        daemon.machine.strays.map { process in
            Check(
                "strays",
                ok: false,
                "\(process.name) (process \(process.pid)) left its launch and is still running",
                lost: "its app's limits do not apply to it; it ends with the launches that may "
                    + "have started it",
                fix: "kill \(process.pid)"
            )
        }
    }

    /// Only of a session that has one, and where it does not tell.
    private var xServer: [Check] {
        guard let problem = daemon.conditionSources?.xServerProblem else { return [] }
        return [
            Check(
                "X server",
                ok: false,
                problem.text,
                lost: "its input does not tell whether the device is in use",
                fix: problem.fix
            )
        ]
    }

    private var sensors: [Check] {
        Condition.allCases.filter { $0 != .storage }.map { condition in
            let state = daemon.device.conditions[condition]
            return .sensor(
                condition,
                state,
                problem: daemon.conditionSources?.problem(of: condition, state) ?? "",
                lacksService: daemon.conditionSources?.lacksService(for: condition) ?? false
            )
        }
    }
}
