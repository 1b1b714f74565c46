import Linux
import TestKit
import Testing

/// What ARCHITECTURE.md promises of a new trigger: a case, a row, a column, and the folder of what
/// makes its work. A patch adds one to a copy of the core, which is built and run with its
/// simulator.
struct InventedTriggerTests {
    private static let root =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")
    private static let fixture = root + "/Tests/Fixtures/invented-trigger"

    private func run(_ arguments: String...) throws -> String {
        var command = Command(arguments)
        // The compiler says nothing for minutes on a busy machine.
        command.silenceLimitMilliseconds = -1
        let outcome = try command.run()
        try #require(outcome.succeeded, "\(arguments): \(outcome.errors.suffix(4000))")
        return outcome.output
    }

    @Test func `the patch touches nothing but the tables and its folder`() throws {
        let patch = try Files.text(Self.fixture + "/doorbell.patch")
        let files = patch.split(separator: "\n").filter { $0.hasPrefix("+++ ") }.map {
            String($0.dropFirst("+++ b/Sources/DeviceCore/".count))
        }
        #expect(
            files.sorted() == [
                "Doorbell/Device+Doorbell.swift", "Scheduling/GateTable.swift",
                "Scheduling/Trigger.swift", "Scheduling/TriggerTable.swift",
            ]
        )
        let changed = patch.split(separator: "\n").filter {
            $0.hasPrefix("-") && !$0.hasPrefix("--- ")
        }
        // Of what is there, only the rows of the gate table change, for one more column.
        for line in changed {
            #expect(line.contains("row(.") || line.contains("//"), "\(line)")
        }
    }

    @Test func `an invented trigger runs the whole way`() throws {
        let scratch = ScratchDirectory()
        let copy = scratch("copy")
        try Files.makeDirectory(copy + "/Sources/Doorbells", parents: true)
        let targets = [
            "AppProtocol", "AppTranslation", "ClientCore", "DeviceCore", "ExchangeCore",
            "Simulator", "Vocabulary",
        ]
        for target in targets {
            _ = try run("cp", "-r", "\(Self.root)/Sources/\(target)", copy + "/Sources")
        }
        _ = try run("cp", Self.fixture + "/Package.swift", copy)
        _ = try run("cp", Self.fixture + "/Doorbells.swift", copy + "/Sources/Doorbells")
        _ = try run("git", "-C", copy, "apply", Self.fixture + "/doorbell.patch")
        // Whole modules without optimising them: nothing takes less time.
        _ = try run(
            Self.root + "/scripts/build",
            "--configuration=release",
            "-Xswiftc=-Onone",
            "-Xswiftc=-gnone",
            "-Xswiftc=-no-emit-module-separately-wmo",
            "--package-path",
            copy,
            "--product",
            "Doorbells"
        )
        let output = try run(copy + "/.build/release/Doorbells")
        var said: [Substring: Substring] = [:]
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            said[words[0]] = words.last
            #expect(words[0] != "wrong:", "\(line)")
        }
        // Started for it, its message received, its handler called; and each run has its line.
        // Events came with a field that no message may have, too many at once, and again sooner
        // than the rate in its row lets the app be launched for them.
        let words: [Substring] = [
            "launches", "begun", "lines", "end-completed", "secrets", "dropped", "held-apart",
        ]
        for word in words {
            #expect(said[word].flatMap { Int($0) } ?? 0 > 0, "\(word) in \(output)")
        }
        // Some of its column have held it up, and none beside that.
        let gates = Set(try #require(said["gates"]).split(separator: " "))
        #expect(!gates.isEmpty)
        #expect(gates.isDisjoint(with: ["refresh-off", "earliest", "quiet", "better-moment"]))
    }
}
