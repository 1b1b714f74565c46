import AppProtocol
import CommandTable
import DeviceCore
import Linux
import Vocabulary

extension OffstageProgram {
    static let doctor = Subcommand(
        "doctor",
        "report what this machine supports, and what does not work without the rest",
        details: [
            "Reports the step of process control in force, the level at which apps are "
                + "identified, the available sensors, and whether work continues after logout. "
                + "The exit status is 0, whatever the result.",
            "Without a daemon it reports that first, then the checks that need none: settings, "
                + "lingering, manifests.",
        ],
        examples: [
            Example("doctor", "What works on this machine, and what to do about the rest."),
            Example("doctor --json", "The same as JSON."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let checks: [Reported<Check>]
        do throws(Failure) {
            checks = try invocation.ask(Control1.Doctor())
        } catch  where error.code == .notRunning {
            checks = LocalChecks(error).all.map(Reported.init)
        }
        try invocation.show(checks) { checks in
            let console = invocation.console
            for check in checks {
                let isGood = check.isGood
                let mark = console.styled(isGood ? "good" : "warn", isGood ? .green : .yellow)
                let found = check.found.printable
                console.print("\(mark)  \(check.name.printable): \(found)")
                for (title, text) in [("What is missing", check.lost), ("What to do", check.fix)] {
                    guard let text = text?.printable else { continue }
                    let width = console.width.map { max($0 - 6, 20) } ?? .max
                    for line in "\(title): \(text)".wrapped(to: width) {
                        console.print("      " + line)
                    }
                }
            }
        }
    }
}

/// What can be said of this machine without a daemon.
private struct LocalChecks {
    private let failure: Failure

    init(_ failure: Failure) { self.failure = failure }

    var all: [Check] { [daemon] + manifests + settings + [lingering, sleep] }

    private var daemon: Check {
        Check(
            "daemon",
            ok: false,
            failure.message,
            lost: "nothing runs in the background",
            fix: failure.fix
        )
    }

    private var settings: [Check] {
        let path = SettingsPlace.path
        do throws(SettingsText.Invalid) {
            _ = try SettingsPlace.read()
            return Check.settings(at: path, isThere: Files.exists(path), []) + administrator
        } catch {
            return Check.settings(at: path, isThere: true, error.diagnostics) + administrator
        }
    }

    private var administrator: [Check] {
        let path = SettingsText.administratorPath
        guard Files.exists(path) else { return [] }
        do {
            _ = try SettingsText.administrator(ConfigurationText(file: path))
            return Check.settings(at: path, isThere: true, [])
        } catch {
            let problems = (error as? SettingsText.Invalid)?.diagnostics
            let other = (error as? Diagnostic).map { [$0] }
            return Check.settings(at: path, isThere: true, problems ?? other ?? [])
        }
    }

    private var lingering: Check {
        let user = User.current()
        return .lingering(user: user?.name, lingers: user?.lingers)
    }

    private var sleep: Check {
        .sleep(
            by: Files.exists("/sys/power/wake_lock") ? ["kernel wake locks"] : []
        )
    }

    private var manifests: [Check] {
        let files = DesktopFiles.ofEnvironment()
        let home = BaseDirectory.home()
        var seen: Set<AppID> = []
        var usable = 0
        var invalid: [Report.InvalidFile] = []
        var passedOver: [String] = []
        for file in files.entries() where !seen.contains(file.id) {
            let content = files.content(of: file, home: home)
            if case .unreadable(let reason) = content, !files.isOwn(file.path) {
                passedOver.append("\(file.path): \(reason)")
                continue
            }
            seen.insert(file.id)
            switch content {
            case .nothing, .notInstalled: break
            case .app: usable += 1
            case .invalid(let reason), .unreadable(let reason):
                invalid.append(
                    Report.InvalidFile {
                        ($0.app, $0.file, $0.problem) = (file.id, file.path, reason)
                    }
                )
            }
        }
        return Check.manifests(
            invalid.sorted { $0.app?.name ?? "" < $1.app?.name ?? "" },
            usable: usable,
            searched: files.directories,
            unreadable: files.problems().map { "\($0.subject): \($0.errno.text)" },
            passedOver: passedOver
        )
    }
}
