import CommandTable
@testable import Commands
import Linux
import TestKit
import Testing
import Vocabulary

/// What a newcomer types, and the daemon need not be asked about.
struct TypedWordsTests {
    private let scratch = ScratchDirectory()

    private func run(_ words: [String], _ control: CoreControl? = nil) -> Outcome {
        TestTerminal().run(words, control)
    }

    @Test(arguments: [[], ["--overwrite"]])
    func `a directory is no name of a file, and --overwrite does not help`(more: [String]) {
        let url = "http://localhost/a"
        let outcome = run(["download", "-o", scratch.path, url] + more)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("is a directory"), "\(outcome)")
        #expect(outcome.errors.contains("--directory") && !outcome.errors.contains("--overwrite"))
    }

    @Test func `a directory is no list either`() {
        let outcome = run(["download", "-i", scratch.path])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("\"\(scratch.path)\" is a directory"), "\(outcome)")
    }

    @Test func `what is not there has the exit status that help names`() throws {
        let (missing, url) = (scratch("missing"), "http://localhost/a")
        for words in [
            ["download", "-i", missing], ["upload", url, missing],
            ["evaluate", "--usage", missing], ["download", "--cookies", missing, url],
        ] {
            #expect(run(words).status == 3, "\(words)")
        }
    }

    @Test func `a line that is no URL is told by its number`() throws {
        let list = try scratch.write("list", "# mine\n\nhttp://localhost/a\nlocalhost/b\n")
        let outcome = run(["download", "-i", list])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("line 4 of \"\(list)\" is no URL: \"localhost/b\""))
    }

    @Test(arguments: [
        "restic backup ~/Documents", "./no such file", "/bin/sh -c true",
    ])
    func `a command in quotes is one word, which is said before it is stored`(program: String) {
        for name in [[], ["--id", "shellline"]] {
            let outcome = run(["submit", "--processing"] + name + ["--", program])
            #expect(outcome.status == 2)
            let words = "submit: \"\(program)\" is one word, and no program has that name"
            #expect(outcome.errors.contains(words), "\(outcome)")
            #expect(outcome.errors.contains("sh -c \"\(program)\""))
        }
    }

    @Test func `a program whose name has a space is one`() throws {
        let program = try scratch.write("my tool", "#!/bin/sh\n", permissions: 0o755)
        let control = CoreControl(at: TestTerminal().now)
        let words = ["submit", "--processing", "--id", "tool", "--", program]
        let outcome = run(words, control)
        #expect(!outcome.errors.contains("is one word"), "\(outcome)")
    }

    @Test func `a line of a file that is no header is told by its number`() throws {
        let file = try scratch.write("headers", "X-A: b\n\nno header\n")
        let outcome = run(["download", "--header", "@" + file, "http://localhost/a"])
        #expect(outcome.status == 2)
        let said = "\"no header\", line 3 of \"\(file)\", is not a header"
        #expect(outcome.errors.contains(said), "\(outcome)")
    }

    @Test(arguments: ["0", "30s"])
    func `a repetition that is too short is told as it was typed`(every: String) {
        let outcome = run(["submit", "--refresh", "--every", every, "--", "true"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("--every \"\(every)\" is less than a minute"))
    }

    @Test func `a checksum is taken as sha256sum prints it`() {
        let digits = String(repeating: "0f", count: 32)
        let url = "http://localhost/a"
        for sum in [digits, "sha256:" + digits, "SHA256:" + digits, digits.uppercased()] {
            // Nobody is there to be asked.
            #expect(run(["download", "--checksum", sum, url]).status == 4, "\(sum)")
        }
        for sum in [String(digits.dropLast()), "md5:" + digits, "sha256:", digits + "0"] {
            let outcome = run(["download", "--checksum", sum, url])
            #expect(outcome.status == 2 && outcome.errors.contains("is not a SHA-256"))
        }
    }

    @Test func `default is a value of each setting, and of no condition`() {
        #expect(run(["set", "wake-grant", "default"]).status == 4)
        #expect(run(["set", "failure-command", "default"]).status == 4)
        #expect(run(["set", "power", "default"]).status == 2)
    }

    @Test(arguments: ["download", "upload", "submit"])
    func `a usage names its options once`(command: String) throws {
        let usage = try #require(run(["help", command]).output.split(separator: "\n").first)
        #expect(usage.split(separator: "[OPTION]...").count == 2, "\(usage)")
    }

    @Test(arguments: [
        ("failed", "the server answered 401", "failed: the server answered 401"),
        ("finished", "a.iso, 3 MB", "finished: a.iso, 3 MB"),
        ("cancelled", "cancelled", "cancelled"),
    ])
    func `a transfer in the history says which file, and how it ended`(
        outcome: String,
        result: String,
        text: String
    ) {
        var line = Report.HistoryLine()
        line.what = Word(HistoryKind.transfer)
        (line.transfer, line.url) = (TransferID(12), "https://example.org/in/a.iso")
        (line.outcome, line.result) = (Word(text: outcome), result)
        let now = TestTerminal().now
        let console = Console(width: 9, isColored: false, now: now, output: { _ in }) { _ in }
        let cells = OffstageProgram.historyCells(line, console)
        #expect(cells[2].text == "transfer 12 a.iso" && cells[6].text == text)
    }

    @Test func `what is only known to have ended has no result`() {
        var line = Report.HistoryLine()
        line.what = Word(HistoryKind.ended)
        let now = TestTerminal().now
        let console = Console(width: 9, isColored: false, now: now, output: { _ in }) { _ in }
        let outcomes: [(HistoryOutcome, String)] = [(.unknown, ""), (.crashed, "crashed")]
        for (outcome, text) in outcomes {
            (line.outcome, line.result) = (Word(outcome), outcome.rawValue)
            #expect(OffstageProgram.historyCells(line, console)[6].text == text)
        }
    }
}
