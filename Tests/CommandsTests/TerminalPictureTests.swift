import Linux
import TestKit
import Testing

/// The terminal of the README shows what the programs of this build print.
struct TerminalPictureTests {
    private func check(_ picture: String) throws -> Command.Outcome {
        let script = Document("scripts/terminal-picture").file
        return try Command(script, "--check", "--picture", picture, Products.directory).run()
    }

    @Test func theTerminalIsWhatTheProgramsPrint() throws {
        let outcome = try check(Document("docs/terminal.svg").file)
        #expect(outcome.succeeded, "\(outcome.output)\(outcome.errors)")
    }

    /// On a machine without a memory controller, or with other times.
    @Test func whatDiffersFromMachineToMachineIsNoDifference() throws {
        var picture = try Document("docs/terminal.svg").contents
        let cells = picture.split(separator: ">")
        let size = try #require(cells.first { $0.hasSuffix("iB</tspan") })
        let span = try #require(cells.first { $0.hasSuffix(" s</tspan") })
        let scratch = ScratchDirectory()
        for other in ["≥ 300 KiB", "0 B", "1.5 GiB"] {
            let changed = picture.replacing(">\(size)>", with: ">\(other)</tspan>")
            let outcome = try check(try scratch.write("other.svg", changed))
            #expect(outcome.succeeded, "\(other): \(outcome.output)")
        }
        picture = picture.replacing(">\(span)>", with: ">1 min 20 s</tspan>")
        #expect(try check(try scratch.write("other.svg", picture)).succeeded)
    }

    @Test func whatTheProgramsDoNotPrintIsFound() throws {
        let picture = try Document("docs/terminal.svg").contents
        let words = "the device is not on external power"
        try #require(picture.contains(words))
        let scratch = ScratchDirectory()
        let other = try scratch.write("other.svg", picture.replacing(words, with: "it rains"))
        let outcome = try check(other)
        #expect(outcome.status == .exited(1))
        #expect(outcome.output.contains("-command.backup waits: it rains."), "\(outcome)")
        #expect(outcome.errors.contains("is not what the programs print"), "\(outcome)")
    }
}
