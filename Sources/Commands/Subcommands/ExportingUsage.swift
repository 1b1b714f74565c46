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
        ]
    ) { invocation throws(Failure) in
        let user = invocation.options["user"] ?? "me"
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
        let lines = export.lines(try invocation.history().reversed().map(\.report))
        for line in lines { invocation.console.print(line) }
        guard lines.count == 1 else { return }
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

    /// `history`: the oldest line first.
    func lines(_ history: [Report.HistoryLine]) -> [String] {
        var uses: [(app: String, start: String, at: WallTime, end: WallTime?)] = []
        /// By app: the use that has not ended.
        var open: [String: Int] = [:]
        for line in history {
            guard let at = line.at.wall else { continue }
            let app = line.app.name
            switch line.what.known {
            case .opened:
                if open[app] == nil { open[app] = uses.count }
                if open[app] == uses.count { uses.append((app, line.at.rawValue, at, nil)) }
            case .seen: uses.append((app, line.at.rawValue, at, nil))
            case .left, .closed, .ended:
                if let index = open.removeValue(forKey: app) { uses[index].end = at }
            case .run, .dropped, .note, .transfer, nil: break
            }
        }
        return ["user,kind,app,start,duration_s"]
            + uses.map { use in
                let seconds = use.end.map { max(0, ($0 - use.at).wholeSeconds) }
                let start = use.start.prefix(19) + ".000"
                return "\(user),app,\(name(use.app)),\(start),"
                    + (seconds.map { "\($0)" } ?? "")
            }
    }

    private func name(_ app: String) -> String {
        if !secret.isEmpty {
            return "\(Fingerprint(of: secret + Array(app.utf8) + secret))"
        }
        return Self.isPlain(app) ? app : "\"" + app.split(separator: "\"").joined() + "\""
    }
}
