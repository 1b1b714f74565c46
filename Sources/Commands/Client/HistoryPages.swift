import AppProtocol
import CommandTable
import Vocabulary

extension Invocation {
    /// The most lines of the history that the daemon is asked for at a time: a page of what it may
    /// tell is far below what an answer may hold.
    private static let pageLimit: Int64 = 1000

    /// Lines of the history, the newest first: `limit` of them (nil: all), and none older than
    /// `first`. The daemon tells them in pages.
    func history(
        of app: String? = nil,
        limit: Int64? = nil,
        since first: WallTime? = nil
    ) throws(Failure) -> [Reported<Report.HistoryLine>] {
        var call = Control1.History { $0.app = app }
        var lines: [Reported<Report.HistoryLine>] = []
        while true {
            let wanted = limit.map { min($0 - Int64(lines.count), Self.pageLimit) }
            call.limit = wanted ?? Self.pageLimit
            let page = try ask(call)
            let told = page.filter { line in
                first.map { line.at.wall ?? .distantPast >= $0 } ?? true
            }
            lines += told
            guard let last = page.last?.id, told.count == page.count,
                limit.map({ Int64(lines.count) < $0 }) ?? true
            else { return lines }
            call.before = last
        }
    }
}
