import Testing
import Vocabulary

/// What stands on the wire stays the same, whichever list a word is of.
struct TransferWordTests {
    @Test(arguments: ExchangeFailure.Code.allCases)
    func `a transfer fails by the name that its exchange has`(code: ExchangeFailure.Code) {
        #expect(TransferFailureName(code).rawValue == code.rawValue)
    }

    @Test(arguments: TransferOutcome.allCases)
    func `the history says of a transfer what its app is told`(outcome: TransferOutcome) {
        #expect(HistoryOutcome(outcome).rawValue == outcome.rawValue)
        #expect(TransferStanding(rawValue: outcome.rawValue) != nil)
    }

    @Test(arguments: [
        ("https://you:pw@a.example/b:c@d", "https://you:***@a.example/b:c@d"),
        ("http://you:p:w@x@[::1]:80", "http://you:***@[::1]:80"),
        ("https://:pw@a.example?q", "https://:***@a.example?q"),
        ("https://you@a.example:80/", "https://you@a.example:80/"),
        ("https://a.example:80/you:pw@b", "https://a.example:80/you:pw@b"),
        ("https://you:***@a.example/", "https://you:***@a.example/"), ("", ""),
    ])
    func `people are shown no password of a URL`(url: String, shown: String) {
        #expect(url.withoutPassword == shown)
    }

    @Test func `a word of a later version is kept as it was sent`() {
        let word = Word<TransferOutcome>(text: "postponed")
        #expect(word.known == nil && word != .failed && word.text == "postponed")
        #expect(Word(TransferOutcome.failed) == .failed)
    }
}
