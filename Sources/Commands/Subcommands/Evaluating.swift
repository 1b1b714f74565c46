import CommandTable
import DeviceCore
import Linux
import Pages
import Simulator
import Vocabulary

/// Judging the refresh policy by real logs.
extension OffstageProgram {
    static let evaluate = Subcommand(
        "evaluate",
        "evaluate refresh times against logs of real use",
        forms: ["[FILE]..."],
        operands: 0...Int.max,
        options: [
            OptionRow(
                "usage",
                "the logs: files with the columns user,kind,app,start,duration_s, plain or "
                    + "compressed with gzip, or - for standard input; more files may follow as "
                    + "operands",
                argument: "PATTERN"
            ),
            OptionRow(
                "budget",
                "refreshes per app and day (default: 2,4,8,24)",
                argument: "NUMBERS"
            ),
            OptionRow(
                "scope",
                "scope of the budget: all apps share the same total (device), or each app has "
                    + "its own (app); default: both",
                argument: "SCOPE",
                formerName: "purse"
            ),
            OptionRow(
                "wake-price",
                "cost of a wake for offstage, in percent of a refresh (default: the setting's "
                    + "default); several: policies are compared at the first, and the chart of "
                    + "wakes shows the best of all",
                argument: "NUMBERS"
            ),
            OptionRow("html", "write the charts to one self-contained page", argument: "FILE"),
            OptionRow(
                "user",
                "also show the days of this user, with the reason for each refresh",
                argument: "USER"
            ),
        ],
        details: [
            "An open is fresh if the app's content is at most 30 minutes old; opens within 30 "
                + "minutes of the previous use do not count. The first two thirds of each "
                + "user's days are for learning; the last third is scored, while learning "
                + "continues. Users and apps with too little use are left out: a user needs "
                + "\(UsageRecord.Least.lines) lines of apps and \(UsageRecord.Least.days) days "
                + "with use, an app \(UsageRecord.Least.sessions) uses on "
                + "\(UsageRecord.Least.daysOfSessions) days of the first two thirds.",
            "offstage is the daemon's own code, driven by the log's events. The other policies "
                + "are fixed (the same time between refreshes), waking (spread over the hours "
                + "of use), histogram (the times of day at which an app was opened), and "
                + "oracle, which knows the future. Brackets show the 95 % bootstrap interval "
                + "over users.",
            "\"offstage export-usage\" writes a log of your own use.",
        ],
        examples: [
            Example("evaluate --usage 'logs/*/events.csv.gz'", "Evaluate all policies."),
            Example(
                "evaluate --usage my.csv --html my.html --user me --budget 4",
                "Draw your own days."
            ),
            Example(
                "evaluate --usage my.csv --wake-price 16,100,400 --html my.html",
                "Compare prices of a wake, too."
            ),
            Example(
                "evaluate --usage my.csv --budget 4 --scope device --json",
                "One budget for the whole device, as JSON."
            ),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let plan = try plan(invocation)
        let path = try pagePath(invocation)
        let logs = try usageLogs(invocation)
        let person = try person(invocation, among: logs)
        var evaluation = Evaluation(plan)
        let progress = Progress(of: Int64(logs.count), invocation.console)
        for (index, log) in logs.enumerated() {
            progress.show(Int64(index))
            evaluation.add(log)
        }
        progress.end()
        guard evaluation.users > 0 else {
            throw Failure(.failed, "nobody's log is long enough to be judged", fix: whatItTakes)
        }
        let rows = evaluation.rows
        var page = EvaluationPage(rows: rows, users: evaluation.users)
        page.leftOut = logs.count - evaluation.users
        if let path {
            if let person { page.timeline = UsageTimeline(person, plan) }
            try write(page, to: path)
        }
        if page.leftOut > 0 {
            let people = logs.count == 1 ? "1 person" : "\(logs.count) people"
            invocation.console.printError(
                "\(page.leftOut) of \(people) left out, with too little use. \(whatItTakes)"
            )
        }
        try invocation.show(["rows": rows]) { _ in
            EvaluationTables(rows: rows, users: evaluation.users).print(invocation.console)
        }
    }

    static let whatItTakes =
        "A log needs \(UsageRecord.Least.lines) lines of apps, \(UsageRecord.Least.days) days "
        + "with use, and an app with \(UsageRecord.Least.sessions) uses on "
        + "\(UsageRecord.Least.daysOfSessions) days of the first two thirds."

    /// Where the page goes; found wanting before anything is computed.
    private static func pagePath(_ invocation: Invocation) throws(Failure) -> String? {
        guard let path = invocation.options["html"] else {
            guard !invocation.options.has("user") else {
                throw Failure(.usage, "--user is for --html", fix: "Name a file with --html.")
            }
            return nil
        }
        let directory = Files.directory(of: path)
        var reason: String?
        if Files.status(directory)?.kind != .directory {
            reason = "there is no directory \(directory)"
        } else if let kind = Files.status(path)?.kind, kind != .file {
            reason = kind == .directory ? "it is a directory" : "it is not a regular file"
        } else if !Files.isWritable(directory) {
            reason = "you may not write to \(directory)"
        }
        guard let reason else { return path }
        throw Failure(
            .failed,
            "\(path) cannot be written: \(reason)",
            fix: "Name a file in a directory of yours with --html."
        )
    }

    /// Whose days are to be drawn.
    private static func person(
        _ invocation: Invocation,
        among logs: [UserLog]
    ) throws(Failure) -> UsageRecord? {
        guard let user = invocation.options["user"] else { return nil }
        guard let log = logs.first(where: { $0.user == user }) else {
            throw Failure.unknown(
                "user",
                user,
                among: logs.map(\.user),
                otherwise: "The first column of the logs names the users."
            )
        }
        guard let record = UsageRecord(log) else {
            throw Failure(
                .failed,
                "the log of \(user.quoted) is too short to be judged",
                fix: whatItTakes
            )
        }
        return record
    }

    private static func write(_ page: EvaluationPage, to path: String) throws(Failure) {
        do throws(LinuxError) {
            try Files.replace(path, with: page.text, permissions: 0o644)
        } catch {
            throw Failure(.failed, "\(path) cannot be written: \(error.errno.text)")
        }
    }

    private static func plan(_ invocation: Invocation) throws(Failure) -> Evaluation.Plan {
        let budgets = try numbers("budget", in: 1...288, such: "2,4,8,24", invocation)
        var plan = Evaluation.Plan(
            budgets: budgets ?? [2, 4, 8, 24],
            scopes: RefreshBudgetScope.allCases
        )
        if let prices = try numbers("wake-price", in: 0...1000, such: "16,100,400", invocation) {
            plan.wakePrices = prices.map { Int64($0) }
        }
        guard let name = invocation.options["scope"] else { return plan }
        guard let scope = RefreshBudgetScope(rawValue: name) else {
            let kinds = RefreshBudgetScope.allCases.map(\.rawValue)
            throw Failure.unknown(
                "scope",
                name,
                among: kinds,
                otherwise: "Write one of: \(kinds.joined(separator: ", "))."
            )
        }
        plan.scopes = [scope]
        return plan
    }

    /// What an option lists, each number once.
    private static func numbers(
        _ option: String,
        in range: ClosedRange<Int>,
        such example: String,
        _ invocation: Invocation
    ) throws(Failure) -> [Int]? {
        guard let text = invocation.options[option] else { return nil }
        var numbers: [Int] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = Int(part), range.contains(number) else {
                throw Failure(
                    .usage,
                    "--\(option) \(text.quoted) is not a list of numbers from "
                        + "\(range.lowerBound) to \(range.upperBound)",
                    fix: "Write it as \(example)."
                )
            }
            if !numbers.contains(number) { numbers.append(number) }
        }
        return numbers
    }
}
