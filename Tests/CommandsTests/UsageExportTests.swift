import AppProtocol
import CommandTable
import Commands
import Testing
import TestKit
import Vocabulary

/// One's own log.
struct UsageExportTests {
    /// A daemon that remembers this, the oldest first, and tells two lines at a time.
    private struct Remembering: Control {
        var lines: [(at: String, app: String, what: String)]

        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            let before = call.arguments.first?["before"]?.integerValue ?? Int64(lines.count + 1)
            let last = Int(before) - 1
            return [
                .list(
                    (max(0, last - 2)..<last).reversed().map { index in
                        let line = lines[index]
                        return [
                            "id": .integer(Int64(index + 1)), "at": .string(line.at),
                            "app": .string(line.app), "what": .string(line.what),
                        ]
                    }
                )
            ]
        }
    }

    private let control = Remembering(lines: [
        ("2026-03-01T08:00:00+01:00", "mail", "opened"),
        ("2026-03-01T08:01:00+01:00", "news", "run"),
        ("2026-03-01T08:02:30+01:00", "mail", "left"),
        ("2026-03-01T09:00:00+01:00", "news", "seen"),
        ("2026-03-01T10:00:00+01:00", "mail", "opened"),
    ])

    @Test func eachUseIsALineWithItsLength() {
        let output = TestTerminal().run(["export-usage"], control).output
        #expect(
            output == """
                user,kind,app,start,duration_s
                me,app,mail,2026-03-01T08:00:00.000,150
                me,app,news,2026-03-01T09:00:00.000,
                me,app,mail,2026-03-01T10:00:00.000,

                """
        )
    }

    @Test func namesAreHashedOnRequest() {
        let output = TestTerminal().run(["export-usage", "--hash", "--user", "x"], control).output
        #expect(!output.contains("mail") && !output.contains("news"))
        let names = output.split(separator: "\n").dropFirst().map { $0.split(separator: ",")[2] }
        #expect(names.count == 3 && names[0] == names[2] && names[0] != names[1])
    }

    @Test(arguments: [("", "--user is empty"), ("a,b", "holds a comma, a quote or a line break")])
    func aUserThatIsNoWordIsRefused(user: String, words: String) {
        let outcome = TestTerminal().run(["export-usage", "--user", user], control)
        #expect(outcome.status == 2 && outcome.errors.contains(words), "\(outcome)")
    }

    @Test func theSameIsPrintedAsJSON() throws {
        let output = TestTerminal().run(["export-usage", "--json"], control).output
        try JSONTests.expect("export-usage", output)
        let uses = try #require(try ValueJSON.parse(output).listValue)
        #expect(
            uses.first == [
                "user": "me", "app": "mail", "at": "2026-03-01T08:00:00+01:00", "seconds": 150,
            ]
        )
        #expect(uses.map { $0["app"] } == ["mail", "news", "mail"])
        #expect(uses.map { $0["seconds"] } == [150, nil, nil])
        let hashed = TestTerminal().run(["export-usage", "--json", "--hash"], control).output
        #expect(!hashed.contains("mail") && !hashed.contains("news"), "\(hashed)")
        let none = TestTerminal().run(["export-usage", "--json"], Remembering(lines: []))
        #expect(try ValueJSON.parse(none.output) == [])
        #expect(none.errors.hasPrefix("No use of an app is known yet"), "\(none.errors)")
    }

    @Test func thatNothingIsKnownYetIsSaid() {
        let none = TestTerminal().run(["export-usage"], Remembering(lines: []))
        #expect(none.status == 0 && none.output == "user,kind,app,start,duration_s\n")
        #expect(none.errors.hasPrefix("No use of an app is known yet"), "\(none.errors)")
        #expect(TestTerminal().run(["export-usage"], control).errors.isEmpty)
    }
}
