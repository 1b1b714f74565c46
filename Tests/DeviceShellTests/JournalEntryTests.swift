import DeviceCore
@testable import DeviceShell
import Testing
import Vocabulary

/// By which fields a line of the history is found in the journal.
struct JournalEntryTests {
    private func fields(_ entry: HistoryLine.Entry) -> [String: String]? {
        let line = HistoryLine(
            at: .distantPast,
            utcOffset: 0,
            app: AppID("reader"),
            entry: entry
        )
        return JournalEntry(line).map {
            Dictionary($0.fields.map { ($0.name, $0.value) }) { first, _ in first }
        }
    }

    @Test func `each line has its app, and its task and reason if it has one`() {
        #expect(
            fields(.dropped(identifier: "reader.refresh", reason: "cancelled"))
                == ["APP": "reader", "TASK": "reader.refresh", "REASON": "cancelled"]
        )
        #expect(
            fields(.ended(.crashed(signal: 11), reason: "ended by SIGSEGV"))
                == [
                    "APP": "reader", "RESULT": RunResult.crashed(signal: 11).summary,
                    "REASON": "ended by SIGSEGV",
                ]
        )
        #expect(fields(.note("it is late")) == ["APP": "reader", "REASON": "it is late"])
        let failure = TransferFailure(code: .timedOut, reason: "not done within a day")
        let end = TransferEnd.failed(failure)
        #expect(
            fields(.transferred(TransferID(7), url: "https://example.org/a", end))?["RESULT"]
                == end.summary
        )
    }

    @Test func `when somebody used an app is not for the journal`() {
        #expect(fields(.use(.opened)) == nil)
    }
}
