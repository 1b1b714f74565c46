@testable import Commands
import Testing
import Vocabulary

/// What `--wait` says where no terminal shows it.
struct TransferLineTests {
    private var lines = TransferLines()

    private func transfer(
        _ id: UInt64,
        _ state: TransferStanding,
        _ sentence: String
    ) -> Report.Transfer {
        var transfer = Report.Transfer()
        (transfer.id, transfer.state, transfer.file) = (TransferID(id), Word(state), "a.iso")
        transfer.sentence = "transfer \(id) \(sentence)"
        if [.finished, .failed, .cancelled].contains(state) {
            transfer.ended = Report.Time(rawValue: "2026-03-03T12:00:00+01:00")
        }
        return transfer
    }

    private mutating func take(_ transfers: Report.Transfer...) -> [String] {
        let progress = Report.TransferProgress(of: transfers)
        return lines.take(progress, ended: progress.ended)
    }

    @Test mutating func `a reason is told once, however often it is tried again`() {
        let slow = "waits: the connection failed. It is tried again at "
        let first = take(transfer(7, .waiting, slow + "12:00:01."))
        #expect(first == ["transfer 7 (a.iso) \(slow)12:00:01."])
        #expect(take(transfer(7, .running, "is running.")) == [])
        #expect(take(transfer(7, .waiting, slow + "12:00:04.")) == [])
        let offline = "waits: there is no network connection."
        #expect(take(transfer(7, .waiting, offline)) == ["transfer 7 (a.iso) \(offline)"])
        #expect(take(transfer(7, .waiting, slow + "12:10:00.")).count == 1)
        // The command ends with its failure.
        #expect(take(transfer(7, .failed, "failed at 12:11:00: no.")) == [])
    }

    @Test mutating func `each transfer that is shown has a line`() {
        let running = transfer(1, .running, "is running.")
        let end = "finished at 12:00:01: a.iso, 1 MiB."
        let told = take(running, transfer(2, .finished, end))
        #expect(told == ["transfer 1 (a.iso) is running.", "transfer 2 (a.iso) \(end)"])
        let all = (transfer(1, .finished, end), transfer(2, .finished, end))
        #expect(take(all.0, all.1) == ["transfer 1 (a.iso) \(end)"])
        #expect(take(all.0, all.1) == [])
    }

    @Test mutating func `what had ended before anybody watched is no news`() {
        lines.know([transfer(1, .failed, "failed at 11:00: no.")])
        let running = transfer(2, .running, "is running.")
        let told = take(transfer(1, .failed, "failed at 11:00: no."), running)
        #expect(told == ["transfer 2 (a.iso) is running."])
    }

    @Test mutating func `of several each failure is told once`() {
        let failed = transfer(1, .failed, "failed at 12:00:01: the server answered 404.")
        let other = transfer(2, .running, "is running.")
        #expect(take(other, failed).count == 2)
        #expect(take(other, failed) == [])
    }
}
