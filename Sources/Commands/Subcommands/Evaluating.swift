import CommandTable
import DeviceCore
import Linux
import Simulator
import Vocabulary
import Zlib

/// Judging the refresh policy by real logs.
extension OffstageProgram {
    static let evaluate = Subcommand(
        "evaluate",
        "judge when apps are refreshed, by logs of real use",
        options: [
            OptionRow(
                "usage",
                "the logs: files with the columns user,kind,app,start,duration_s, plain or of gzip",
                argument: "PATTERN"
            ),
            OptionRow(
                "budget",
                "so many refreshes per app and day (default: 2,4,8,24)",
                argument: "NUMBERS"
            ),
            OptionRow(
                "purse",
                "each app's refreshes are its own (app), or the device has as many for all of "
                    + "them (device; default: both are run)",
                argument: "KIND"
            ),
            OptionRow(
                "wake-price",
                "what a wake costs offstage, in percent of a refresh (default: the setting's)",
                argument: "PERCENT"
            ),
            OptionRow("html", "draw it, in one page that needs nothing else", argument: "FILE"),
            OptionRow(
                "user",
                "and the days of this person, with what decided each refresh, at the first budget",
                argument: "ID"
            ),
        ],
        details: [
            "An open is fresh if the app's content is at most 30 minutes old; opens within 30 "
                + "minutes of the use before do not count. The first two thirds of each person's "
                + "days are learned from, the last third is scored, and what is learned goes on. "
                + "Left out are people with fewer than 10 days, and apps that are hardly used.",
            "offstage is the daemon's own code, driven by the log's events. Beside it: fixed (the "
                + "same time between refreshes), waking (spread over the hours of use), histogram "
                + "(the times of day at which an app was opened), and oracle, which knows the "
                + "future. In brackets stands where 95 % of samples of the people lie.",
            "A log of your own comes from offstage export-usage.",
        ],
        examples: [
            Example("evaluate --usage 'logs/*/events.csv.gz'", "All policies on these people."),
            Example(
                "evaluate --usage my.csv --html my.html --user me --budget 4",
                "A picture of one's own days."
            ),
            Example(
                "evaluate --usage my.csv --budget 4 --purse device --json",
                "One budget for the whole device, as JSON."
            ),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let plan = try plan(invocation)
        let logs = try usageLogs(invocation)
        if invocation.options.has("user") {
            guard invocation.options.has("html") else {
                throw Failure(.usage, "--user is for --html", fix: "Name a file with --html.")
            }
            let user = invocation.options["user"] ?? ""
            if !logs.contains(where: { $0.user == user }) { throw nobody(user, among: logs) }
        }
        var evaluation = Evaluation(plan)
        let progress = Progress(of: Int64(logs.count), invocation.console)
        for (place, log) in logs.enumerated() {
            progress.show(Int64(place))
            evaluation.add(log)
        }
        progress.end()
        guard evaluation.users > 0 else {
            throw Failure(
                .failed,
                "nobody's log is long enough to be judged",
                fix: "It takes 10 days with use, and an app that was opened 10 times on 3 days."
            )
        }
        let rows = evaluation.rows
        try draw(rows, evaluation.users, logs, plan, invocation)
        guard invocation.wantsJSON else {
            EvaluationTables(rows: rows, users: evaluation.users).print(invocation.console)
            return
        }
        do throws(ValueError) {
            let value: Value = ["rows": try ValueEncoder().encode(rows)]
            invocation.console.print(value.json(pretty: true))
        } catch {
            throw Failure(.failed, "the rows cannot be written: \(error)")
        }
    }

    private static func draw(
        _ rows: [EvaluationRow],
        _ users: Int,
        _ logs: [UserLog],
        _ plan: Evaluation.Plan,
        _ invocation: Invocation
    ) throws(Failure) {
        guard let path = invocation.options["html"] else { return }
        var page = EvaluationPage(rows: rows, users: users)
        if let user = invocation.options["user"] {
            guard let log = logs.first(where: { $0.user == user }), let record = UsageRecord(log)
            else { throw nobody(user, among: logs) }
            let budget = plan.budgets.first ?? 4
            var replay = DeviceReplay(record)
            replay.warmUp()
            replay.score(budget: budget, purse: .device, wakePrice: plan.wakePrice)
            page.timeline = UsageTimeline(
                record: record,
                refreshes: replay.moments,
                budget: budget
            )
        }
        do throws(LinuxError) {
            try Files.replace(path, with: page.text, permissions: 0o644)
        } catch {
            throw Failure(.failed, "\(path) cannot be written: \(error)")
        }
    }

    private static func nobody(_ user: String, among logs: [UserLog]) -> Failure {
        Failure.unknown(
            "user",
            user,
            among: logs.map(\.user),
            otherwise: "The logs have to be long enough as well."
        )
    }

    private static func plan(_ invocation: Invocation) throws(Failure) -> Evaluation.Plan {
        var budgets: [Int] = []
        let text = invocation.options["budget"] ?? "2,4,8,24"
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let budget = Int(part), (1...288).contains(budget) else {
                throw Failure(
                    .usage,
                    "--budget \(text.quoted) is no list of numbers from 1 to 288",
                    fix: "Write it as 2,4,8,24."
                )
            }
            if !budgets.contains(budget) { budgets.append(budget) }
        }
        var plan = Evaluation.Plan(budgets: budgets, purses: RefreshPurse.allCases)
        plan.wakePrice = try invocation.integer("wake-price", in: 0...1000)
        guard let name = invocation.options["purse"] else { return plan }
        guard let purse = RefreshPurse(rawValue: name) else {
            let kinds = RefreshPurse.allCases.map(\.rawValue)
            throw Failure.unknown(
                "kind of purse",
                name,
                among: kinds,
                otherwise: "Write one of: \(kinds.joined(separator: ", "))."
            )
        }
        plan.purses = [purse]
        return plan
    }

    /// The logs of all people in the files that `--usage` names.
    static func usageLogs(_ invocation: Invocation) throws(Failure) -> [UserLog] {
        guard let pattern = invocation.options["usage"] else {
            throw Failure(
                .usage,
                "evaluate: no logs are named",
                fix: "Name them with --usage."
            )
        }
        let paths = Files.matching(pattern)
        guard !paths.isEmpty else {
            throw Failure(.failed, "\(pattern.quoted) matches no file")
        }
        var logs: [UserLog] = []
        for path in paths { logs += try usageLogs(in: path) }
        return logs
    }

    private static func usageLogs(in path: String) throws(Failure) -> [UserLog] {
        let limit = 1 << 30
        var text: [UInt8]
        do throws(LinuxError) {
            text = try Files.readRegular(path, limit: limit)
        } catch {
            throw Failure(.failed, "\(path) cannot be read: \(error)")
        }
        do throws(ZlibError) {
            if Gzip.isCompressed(text) { text = try Gzip.decompress(text, limit: limit) }
        } catch {
            throw Failure(.failed, "\(path) cannot be read: \(error.kind.words)")
        }
        do throws(UsageLogError) {
            return try UserLog.read(text, data: dataName(of: path))
        } catch {
            throw Failure(.failed, "\(path), line \(error.line): \(error.reason)")
        }
    }

    /// The folder that a file is in, as logs are kept; of a file without one its own name.
    private static func dataName(of path: String) -> String {
        let folder = Files.name(of: Files.directory(of: path))
        let name = Files.name(of: path)
        let isNamed = name.hasPrefix("events.") && !folder.isEmpty && folder != "."
        return isNamed ? folder : String(name.prefix { $0 != "." })
    }
}

extension ZlibError.Kind {
    fileprivate var words: String {
        switch self {
        case .corrupt: "it is damaged"
        case .truncated: "it ends too soon"
        case .tooLarge: "it is larger than 1 GiB"
        case .noMemory: "memory is short"
        }
    }
}
