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

    var all: [Check] { [daemon] + settings + [lingering, sleep] + manifests }

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
            return Check.settings(at: Files.exists(path) ? path : "the defaults: no \(path)", [])
        } catch {
            return Check.settings(at: path, error.diagnostics)
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

    /// Only those that cannot be used: `offstage lint` says more of each.
    private var manifests: [Check] {
        let home = BaseDirectory.home()
        let directories = DesktopFileID.directories(
            dataHome: CurrentProcess.environment("XDG_DATA_HOME"),
            dataDirectories: CurrentProcess.environment("XDG_DATA_DIRS"),
            home: home
        )
        var seen: [String] = []
        var checks: [Check] = []
        for directory in directories {
            for name in ((try? Files.list(directory)) ?? []).sorted() {
                guard let id = DesktopFileID.id(relativePath: name), !seen.contains(name),
                    let bytes = try? Files.read(directory + "/" + name, limit: 1 << 20)
                else { continue }
                seen.append(name)
                let file = directory + "/" + name
                let result = ManifestParser.parse(bytes: bytes, id: id, file: file, home: home)
                guard case .invalid(let problems) = result,
                    let first = problems.first(where: { $0.severity == .error })
                else { continue }
                checks.append(
                    Check(
                        "manifest",
                        ok: false,
                        "\(file): \(first)",
                        lost: "\(id) is not run",
                        fix: "offstage lint \(file)"
                    )
                )
            }
        }
        return checks
    }
}
