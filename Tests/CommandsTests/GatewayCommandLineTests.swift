import CommandTable
import GatewayShell
import TestKit
import Testing

/// The command line of `offstage-gateway`, as it is typed.
struct GatewayCommandLineTests {
    private func run(_ words: [String]) -> Outcome {
        TestTerminal().record { GatewayProgram.main(words, $0) }
    }

    @Test(arguments: GatewayProgram.table.commands.map(\.name))
    func eachCommandHasHelpWithExamplesOfItsOptions(_ name: String) throws {
        let command = try #require(GatewayProgram.table.commands.first { $0.name == name })
        let help = run(["help", name])
        #expect(help.status == 0 && help.errors == "")
        #expect(help.output.contains("Usage: offstage-gateway \(name)"))
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
        #expect(!command.examples.isEmpty)
        for example in command.examples {
            #expect(help.output.contains("  offstage-gateway \(example.command)\n"))
            // What its output goes to is the shell's business.
            let own = example.command.prefix { $0 != ">" }.split(separator: " ").map(String.init)
            #expect(own.first == name)
            #expect(command.operands.contains(own.dropFirst().count { !$0.hasPrefix("-") }))
            // Options are read before help is given.
            #expect(run(own + ["--help"]) == help, "\(example.command)")
        }
    }

    @Test func settingsAreATextOfHelp() {
        let help = run(["help", "settings"])
        #expect(help.status == 0)
        let words = Set(help.output.split { $0 == " " || $0 == "\n" })
        for row in GatewaySettings.table { #expect(words.contains(row.name[...])) }
    }

    @Test(arguments: [
        (["kyes"], 2, "Did you mean keys?"), (["keys", "--taem=T"], 2, "Did you mean --team?"),
        ([], 2, "\"offstage-gateway help\" lists them."),
        (["send"], 2, "Usage: offstage-gateway send TOKEN"),
        (["log", "--lines"], 2, "--lines needs an argument: NUMBER"),
        (
            ["log", "--directory=/nowhere"], 3,
            "\"offstage-gateway init --directory=/nowhere\" creates one"
        ),
        (
            ["stats", "--directory=/nowhere"], 3,
            "\"offstage-gateway init --directory=/nowhere\" creates one"
        ),
    ])
    func aMistakeHasItsStatusAndSaysWhatToDo(_ words: [String], _ status: Int32, _ fix: String) {
        let outcome = run(words)
        #expect(outcome.status == status)
        #expect(outcome.output == "")
        #expect(outcome.errors.hasPrefix("offstage-gateway: ") && outcome.errors.contains(fix))
    }
}
