import Linux
import Simulator
import Vocabulary
import Zlib

/// Judging the refresh policy by real logs.
extension Subcommand {
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
                "evaluate --usage my.csv --budget 4 --purse device --json",
                "One budget for the whole device, as JSON."
            ),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let plan = try plan(invocation)
        let logs = try usageLogs(invocation)
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
        guard let name = invocation.options["purse"] else {
            return Evaluation.Plan(budgets: budgets, purses: PurseKind.allCases)
        }
        guard let purse = PurseKind(rawValue: name) else {
            let kinds = PurseKind.allCases.map(\.rawValue)
            throw Failure.unknown(
                "kind of purse",
                name,
                suggestion: Spelling.suggestion(for: name, among: kinds),
                otherwise: "Write one of: \(kinds.joined(separator: ", "))."
            )
        }
        return Evaluation.Plan(budgets: budgets, purses: [purse])
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
