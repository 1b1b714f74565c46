import AppProtocol
import CommandTable
import Commands
import Testing
import Vocabulary

/// The daemon tells the history in pages.
struct HistoryPagingTests {
    /// 25 lines, one each hour back from `now`, at most ten a page.
    final class Pages: Control {
        let now: WallTime
        private(set) var asked = 0

        init(_ now: WallTime) { self.now = now }

        func call(_ method: Interface.Method, _ arguments: [Value]) throws(Failure) -> Value {
            asked += 1
            let before = arguments[0]["before"]?.integerValue ?? 26
            let ids = (1..<before).reversed().prefix(10)
            return .list(
                ids.map { id in
                    [
                        "id": .integer(id), "app": .string("app\(id)."), "what": "opened",
                        "at": .string(stamp(now - .hours(25 - id))),
                    ]
                }
            )
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
}
