import AppProtocol
import CommandTable
import Commands
import Testing
import Vocabulary

/// The daemon tells the history in pages.
struct HistoryPagingTests {
    /// So many lines, one each hour back from `now`, at most so many a page.
    final class Pages: Control {
        let now: WallTime
        private let count: Int64
        private let page: Int
        private(set) var asked = 0

        init(_ now: WallTime, count: Int64 = 25, page: Int = 10) {
            (self.now, self.count, self.page) = (now, count, page)
        }

        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            guard call.method == Control1.History.name else { return call.plainReply }
            asked += 1
            let before = call.arguments[0]["before"]?.integerValue ?? count + 1
            let limit = call.arguments[0]["limit"]?.integerValue.map { Int($0) } ?? 50
            let ids = (1..<before).reversed().prefix(min(page, limit))
            return [
                .list(
                    ids.map { id in
                        [
                            "id": .integer(id), "app": .string("app\(id)."), "what": "opened",
                            "at": .string(stamp(now - .hours(count - id))),
                        ]
                    }
                )
            ]
        }

        private func stamp(_ time: WallTime) -> String {
            let local = LocalTime(time, utcOffset: 0).description
            return local.prefix(10) + "T" + local.suffix(8) + "+00:00"
        }
    }

    @Test func allLinesSinceAreTold() {
        let terminal = TestTerminal()
        let pages = Pages(terminal.now.wall)
        let outcome = terminal.run("history --since 12h", pages)
        for id in 13...25 { #expect(outcome.output.contains("app\(id)."), "\(id)") }
        #expect(!outcome.output.contains("app12.") && pages.asked == 2)
        #expect(
            terminal.run("history --since 9d", Pages(terminal.now.wall)).output.contains("app1.")
        )
    }

    @Test(arguments: [(7, 10_000), (25, 10), (12_000, 10_000), (20_000, 10_000), (30_000, 3)])
    func asManyLinesAreToldAsWereAskedFor(wanted: Int64, page: Int) throws {
        let terminal = TestTerminal()
        let pages = Pages(terminal.now.wall, count: 20_000, page: page)
        let outcome = terminal.run("history --json -n \(wanted)", pages)
        let lines = try #require(
            try ValueJSON.parse(outcome.output, limit: 1 << 24).listValue
        )
        let ids = lines.compactMap { $0["id"]?.integerValue }
        #expect(ids == Array((1...20_000).reversed().prefix(Int(wanted))))
    }
}
