import CommandTable
@testable import Commands
import Testing
import Vocabulary

/// What `offstage transfers --watch` draws.
struct TransferBoardTests {
    private var board = TransferBoard()
    private var now = BootTime(nanoseconds: 0) + .hours(1)

    private func transfer(
        _ id: UInt64,
        _ state: TransferStanding,
        _ received: Int64 = 0,
        of total: Int64? = nil,
        file: String = "a.iso",
        sentence: String = ""
    ) -> Report.Transfer {
        var transfer = Report.Transfer()
        transfer.id = TransferID(id)
        (transfer.state, transfer.received, transfer.total) = (Word(state), received, total)
        (transfer.file, transfer.sentence) = (file, sentence)
        if [.finished, .failed, .cancelled].contains(state) {
            transfer.ended = Report.Time(rawValue: "2026-03-03T12:00:00+01:00")
        }
        return transfer
    }

    private mutating func rows(
        _ transfers: [Report.Transfer],
        width: Int = 100,
        height: Int = 24
    ) -> [String] {
        let progress = Report.TransferProgress(of: transfers)
        return board.rows(progress, at: now, width: width, height: height)
    }

    @Test mutating func `one that runs has a bar, its rate and the time left`() {
        let first = rows([transfer(7, .running, 0, of: 100 << 20)])
        #expect(first == ["7  a.iso  [....................] 0 % of 100 MiB"])
        now = now + .seconds(1)
        let second = rows([transfer(7, .running, 10 << 20, of: 100 << 20)])
        let text = "7  a.iso  [##..................] 10 % of 100 MiB  10 MiB/s  9s left"
        #expect(second == [text])
    }

    @Test mutating func `a rate takes a second, and what is left at least as long`() {
        _ = rows([transfer(1, .running, 0, of: 300 << 10)])
        now = now + .milliseconds(500)
        let early = rows([transfer(1, .running, 100 << 10, of: 300 << 10)])
        #expect(early[0].hasSuffix(" 33 % of 300 KiB"), "\(early)")
        now = now + .milliseconds(500)
        let late = rows([transfer(1, .running, 299 << 10, of: 300 << 10)])
        #expect(late[0].hasSuffix("  299 KiB/s  1s left"), "\(late)")
    }

    @Test func `of several that failed the first is told, in one sentence`() {
        var failed = transfer(1, .failed, sentence: "transfer 1 failed: the server answered 404.")
        failed.url = "http://a/1"
        let fine = transfer(2, .finished)
        #expect(TransferWatch.failure(of: [fine]) == nil)
        let one = TransferWatch.failure(of: [fine, failed])
        let words = "http://a/1: transfer 1 failed: the server answered 404"
        #expect(one?.message == words + ".")
        let two = TransferWatch.failure(of: [failed, fine, failed])
        #expect(two?.message == words + ", and 1 more failed")
    }

    @Test mutating func `the rate is that of the last seconds`() {
        for second in 0..<20 {
            let received = Int64(second < 10 ? second : 10 + (second - 10) * 5) << 20
            let rows = rows([transfer(1, .running, received, of: 1 << 40)])
            if second == 19 { #expect(rows[0].contains("5 MiB/s"), "\(rows)") }
            now = now + .seconds(1)
        }
        // It began anew: nothing is known of its rate.
        #expect(!rows([transfer(1, .running, 0, of: 1 << 40)])[0].contains("/s"))
    }

    @Test mutating func `one that waits says why, and all together are counted`() {
        let rows = rows([
            transfer(1, .finished, 10, of: 10, sentence: "transfer 1 finished at 12:00: a.iso."),
            transfer(2, .waiting, sentence: "transfer 2 waits: there is no network."),
            transfer(3, .running, 5, file: "longer name"),
            transfer(4, .failed, sentence: "transfer 4 failed at 12:00: no."),
        ])
        #expect(
            rows == [
                "3  longer name  5 B", "2  a.iso        waits: there is no network.",
                "1  a.iso        finished at 12:00: a.iso.", "4  a.iso        failed at 12:00: no.",
                "1 of 4 done, 1 running, 1 waiting, 1 failed",
            ]
        )
    }

    /// A row that wraps, or one that scrolls, would be drawn again below itself.
    @Test(arguments: [(10, 5), (40, 10), (1, 1), (200, 100)])
    mutating func `nothing is wider or higher than the terminal`(width: Int, height: Int) {
        let name = String(repeating: "長い", count: 40)
        let transfers = (1...50).map {
            transfer($0, $0 % 3 == 0 ? .finished : .running, 5, of: 10, file: name)
        }
        let rows = rows(transfers, width: width, height: height)
        #expect(rows.count <= max(3, height))
        #expect(rows.allSatisfy { $0.columns <= max(1, width - 1) })
    }

    @Test mutating func `names from servers cannot move the cursor`() {
        let rows = rows([transfer(1, .running, 5, file: "a\u{1B}[2Jb\nc")])
        #expect(!rows[0].unicodeScalars.contains { $0.value < 0x20 })
    }
}
