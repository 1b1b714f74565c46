import AppProtocol
import CommandTable
import Linux
import Vocabulary

extension OffstageProgram {
    static let exportUsage = Subcommand(
        "export-usage",
        "print when apps were used, as a log for evaluate",
        options: [
            OptionRow(
                "hash",
                "replace each app's name by a hash with a secret that is not kept"
            ),
            OptionRow("user", "name of the user in the log (default: me)", argument: "NAME"),
        ],
        details: [
            "Prints lines of user,kind,app,start,duration_s, oldest first, from the history, as "
                + "far back as it is kept (the settings history-age and history-lines). The "
                + "start is in local time. The duration is in seconds; it is empty if only the "
                + "beginning of a use was observed.",
            "The log contains the opens of apps, but not the use of the device, which the history "
                + "does not record. So evaluate sees less use than the daemon did, and counts "
                + "more wakes from sleep than there were.",
            "Nothing is sent anywhere. The output shows when apps were used.",
        ],
        examples: [
            Example("export-usage > my.csv", "A log for evaluate --usage my.csv."),
            Example("export-usage --hash | gzip > events.csv.gz", "A log without names of apps."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let user = invocation.options["user"] ?? "me"
        guard !user.isEmpty else { throw Failure(.usage, "--user is empty") }
        guard UsageExport.isPlain(user) else {
            throw Failure(.usage, "--user \(user.quoted) holds a comma, a quote or a line break")
        }
        var export = UsageExport(user: user)
        if invocation.options.has("hash") {
            do throws(LinuxError) {
                export.secret = try FileDescriptor(opening: "/dev/urandom", .reading)
                    .read(upTo: 32)
            } catch {
                throw Failure(.failed, "no secret can be drawn: \(error)")
            }
        }
        let uses = UsageExport.uses(try invocation.history().reversed().map(\.report))
        invocation.show(.list(uses.map(export.report))) { _ in
            for line in export.lines(uses) { invocation.console.print(line) }
        }
        guard uses.isEmpty else { return }
        invocation.console.printError(
            "No use of an app is known yet: what offstage open starts, and what UseFrom in a "
                + "manifest tells of, is written down as it happens."
        )
    }
}

/// The use of apps in a history, as lines of a log.
struct UsageExport {
    let user: String
    /// Put before names that are hashed; empty: they are not.
    var secret: [UInt8] = []

    init(user: String) { self.user = user }

    static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && !text.unicodeScalars.contains { ",\"\r\n".unicodeScalars.contains($0) }
    }

    /// One of an app.
    struct Use {
        let app: String
        let begin: Report.Time
        /// Nil: only its beginning was observed.
        var seconds: Int64?
    }

    /// `history`: the oldest line first.
    static func uses(_ history: [Report.HistoryLine]) -> [Use] {
        var uses: [Use] = []
        /// By app: the use that has not ended.
        var open: [String: (index: Int, at: WallTime)] = [:]
        for line in history {
            guard let at = line.at.wall else { continue }
            let app = line.app.name
            switch line.what.known {
            case .opened:
                guard open[app] == nil else { continue }
                open[app] = (uses.count, at)
                uses.append(Use(app: app, begin: line.at))
            case .seen: uses.append(Use(app: app, begin: line.at))
            case .left, .closed, .ended:
                if let use = open.removeValue(forKey: app) {
                    uses[use.index].seconds = max(0, (at - use.at).wholeSeconds)
                }
            case .run, .dropped, .note, .transfer, nil: break
            }
        }
        return uses
    }

    func lines(_ uses: [Use]) -> [String] {
        ["user,kind,app,start,duration_s"]
            + uses.map { use in
                let start = use.begin.rawValue.prefix(19) + ".000"
                return "\(user),app,\(name(use.app)),\(start),"
                    + (use.seconds.map { "\($0)" } ?? "")
            }
    }

    func report(_ use: Use) -> Value {
        var fields: ValueMap = [
            "user": .string(user), "app": .string(hash(use.app) ?? use.app),
            "at": .string(use.begin.rawValue),
        ]
        if let seconds = use.seconds { fields["seconds"] = .integer(seconds) }
        return .map(fields)
    }

    /// Nil: names stay.
    private func hash(_ app: String) -> String? {
        secret.isEmpty ? nil : "\(Fingerprint(of: secret + Array(app.utf8) + secret))"
    }

    private func name(_ app: String) -> String {
        if let hash = hash(app) { return hash }
        return Self.isPlain(app) ? app : "\"" + app.split(separator: "\"").joined() + "\""
    }
}
