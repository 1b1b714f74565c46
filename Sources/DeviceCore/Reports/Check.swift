package import Vocabulary

package typealias Check = Report.Check

/// The daemon makes them, and the command line those that need no daemon.
extension Check {
    package init(_ name: String, ok: Bool, _ found: String, lost: String = "", fix: String = "") {
        self.init {
            ($0.name, $0.isGood, $0.found) = (name, ok, found)
            ($0.lost, $0.fix) = (lost.isEmpty ? nil : lost, fix.isEmpty ? nil : fix)
        }
    }

    /// Whether the user's processes end with the last login session. `user`: nil when the user is
    /// not in the password file. `lingers`: nil without logind.
    package static func lingering(user: String?, lingers: Bool?) -> Check {
        guard let user else {
            return Check("lingering", ok: false, "the user is not in the password file")
        }
        guard let lingers else {
            return Check("lingering", ok: true, "not needed: no systemd logind here")
        }
        return Check(
            "lingering",
            ok: lingers,
            lingers ? "on" : "off",
            lost: lingers ? "" : "background work ends when you log out",
            fix: lingers ? "" : "loginctl enable-linger \(user)"
        )
    }

    /// `means`: what keeps the machine awake.
    package static func sleep(by means: [String]) -> Check {
        Check(
            "staying awake during a run",
            ok: !means.isEmpty,
            means.isEmpty ? "not possible here" : means.joined(separator: " and "),
            lost: !means.isEmpty
                ? "" : "if the machine goes to sleep, a run is interrupted and continues later",
            fix: means.isEmpty ? "as root: apt install \(Condition.packageOfLogind)" : ""
        )
    }

    /// What is known of `offstage-wake`.
    package struct Helper {
        /// Where it is installed: the directory for what programs share.
        package var share: String
        /// It has answered.
        package var isAsked: Bool
        /// What it said last; nil: that all is well.
        package var problem: Problem?

        package struct Problem: Equatable, Sendable {
            package var text: String
            package var cause: Cause

            package init(_ text: String, _ cause: Cause) {
                (self.text, self.cause) = (text, cause)
            }
        }

        package enum Cause: Sendable {
            /// polkit does not permit it to this user.
            case refused
            case noPolkit
            case other

            fileprivate func fix(_ share: String) -> String {
                switch self {
                case .refused:
                    "log in at the machine; or as root, for the users of group sudo: cp "
                        + "\(share)/offstage/polkit-1/50-offstage-wake.rules /etc/polkit-1/rules.d"
                case .noPolkit: "as root: apt install polkitd"
                case .other: "systemctl status offstage-wake.service says more"
                }
            }
        }

        package init(share: String, isAsked: Bool, problem: Problem?) {
            (self.share, self.isAsked, self.problem) = (share, isAsked, problem)
        }
    }

    /// `helper`: nil: it is not installed.
    package static func waking(byOwnAlarm: Bool, hasClock: Bool, helper: Helper?) -> Check {
        let name = "waking the machine"
        let lost =
            byOwnAlarm
            ? "the machine stays awake after work that woke it"
            : "work that becomes due during sleep starts when the machine wakes"
        func found(_ text: String) -> String {
            byOwnAlarm ? "an alarm of the daemon; \(text)" : text
        }
        guard byOwnAlarm || hasClock else {
            return Check(
                name,
                ok: false,
                "not possible: no real-time clock that can wake it",
                lost: lost,
                fix: "none: the machine lacks it; use wake-from-sleep=off"
            )
        }
        guard let helper else {
            return Check(
                name,
                ok: false,
                found("the helper offstage-wake is not installed"),
                lost: lost,
                fix: "as root: apt install offstage, or make install"
            )
        }
        guard helper.isAsked else {
            return Check(name, ok: true, found("offstage-wake, asked when the machine next sleeps"))
        }
        guard let problem = helper.problem else {
            return Check(name, ok: true, found("offstage-wake"))
        }
        return Check(
            name,
            ok: false,
            found("offstage-wake refuses: \(problem.text)"),
            lost: lost,
            fix: problem.cause.fix(helper.share)
        )
    }

    /// How a condition is known, and what waits when it is not. `problem`: why, if somebody knows.
    /// `lacksService`: a service could report it, and is not there.
    package static func sensor(
        _ condition: Condition,
        _ state: Conditions.State,
        problem: String,
        lacksService: Bool = false
    ) -> Check {
        let row = condition.row
        let (name, value) = ("sensor " + row.name, row.word(state.value))
        let suffix = problem.isEmpty ? "" : " (\(problem))"
        let byHand = "set it by hand: offstage set \(row.name) VALUE"
        switch state.sensing {
        case .unknown where condition.isOnlySetByHand:
            return Check(name, ok: true, "\(value) unless it is set: offstage set \(row.name) on")
        case .known:
            let source = state.source?.label ?? ""
            return Check(name, ok: true, "\(value) (\(source))" + suffix)
        case .noDevice:
            return Check(name, ok: true, "\(value) (\(row.absence))")
        case .unknown:
            let lost =
                condition == .idle
                ? problem.isEmpty
                    ? "processing waits until the load is low (idle-load)" : "processing waits"
                : condition.canBeAskedFor
                    ? "work that requires it waits; all other work runs as if it were \(value)"
                    : "everything runs as if it were \(value)"
            let found = "unknown: no source reports \(row.question)" + suffix
            let package = lacksService ? condition.package : nil
            let fix = package.map { "as root: apt install \($0); or \(byHand)" } ?? byHand
            return Check(name, ok: false, found, lost: lost, fix: fix)
        case .lost:
            let found =
                "lost: the source that reported \(row.question) is gone; taken as \(value)" + suffix
            let lost =
                row.cautious == row.harmless
                ? "nothing"
                : "work is held as if it were \(value) until a source reports again"
            return Check(name, ok: false, found, lost: lost, fix: byHand)
        }
    }

    /// Whether programs can be started, as far as the last start tells.
    package static func starting(_ block: StartBlock?, at now: BootTime) -> Check {
        guard let block, !block.isOver(at: now) else {
            return Check("starting programs", ok: true, "works")
        }
        return Check(
            "starting programs",
            ok: false,
            "the last start failed: \(block.failure.reason)",
            lost: "work waits; due work is retried at least once a minute",
            fix: block.failure.cause.fix
        )
    }

    /// A line for each manifest that cannot be used, and for each directory of manifests that
    /// cannot be listed (`unreadable`: it and why). `passedOver`: other people's files that cannot
    /// be read, and why. `searched`: where manifests are looked for.
    package static func manifests(
        _ invalid: [Report.InvalidFile],
        usable: Int,
        searched: [String],
        unreadable: [String] = [],
        passedOver: [String] = []
    ) -> [Check] {
        let name = "manifests"
        let checks =
            unreadable.map { problem in
                Check(
                    name,
                    ok: false,
                    problem,
                    lost: "the apps whose manifests are there are not run",
                    fix: "permit this user to read the directory"
                )
            }
            + invalid.map { manifest in
                let app = manifest.app?.name ?? ""
                let file = manifest.file ?? "\(app).desktop"
                return Check(
                    name,
                    ok: false,
                    "\(file): \(manifest.problem)".withoutPeriod,
                    lost: "\(app) is not run",
                    fix: "correct it; offstage lint \(file) lists all that is wrong"
                )
            }
            + passedOver.map { problem in
                Check(
                    name,
                    ok: false,
                    problem,
                    lost: "if that is the manifest of an app, the app is not run",
                    fix: "as its owner: correct it, or remove it"
                )
            }
        guard checks.isEmpty else { return checks }
        let count = "\(usable) \(usable == 1 ? "app" : "apps")"
        return [Check(name, ok: true, "\(count); searched in \(searched.joined(separator: ", "))")]
    }

    /// The settings file at `path`: a line for each mistake in it.
    package static func settings(
        at path: String,
        isThere: Bool,
        _ problems: [Diagnostic]
    ) -> [Check] {
        guard !problems.isEmpty else {
            return [Check("settings", ok: true, isThere ? path : "the defaults: no \(path)")]
        }
        return problems.enumerated().map { index, problem in
            var plain = problem
            plain.fix = ""
            return Check(
                "settings",
                ok: false,
                "\(path): \(plain.description.dropLast())",
                lost: index == problems.count - 1
                    ? "no setting in the file takes effect until the whole file is valid" : "",
                fix: problem.fix
            )
        }
    }
}

extension String {
    fileprivate var withoutPeriod: String { hasSuffix(".") ? String(dropLast()) : self }
}

extension Condition {
    fileprivate static let packageOfLogind = "libpam-systemd"

    /// Debian's, with the service that reports it; nil: the kernel does, or nobody.
    fileprivate var package: String? {
        switch self {
        case .battery, .power: "upower"
        case .network, .metered: "network-manager"
        case .locked, .idle: Self.packageOfLogind
        case .lowPower: "power-profiles-daemon"
        case .lowData, .thermal, .memory, .storage: nil
        }
    }
}

extension Device {
    /// Apps with settings of their own that nobody knows.
    package var strangersInSettings: [AppID] {
        settings.apps.map(\.app).filter { id in
            guard let index = apps.index(of: id) else { return true }
            return apps[index].manifest == nil && apps[index].problem == nil
        }
    }
}
