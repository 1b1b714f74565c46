import CommandTable
import Commands
import GatewayShell
import Linux
import TestKit
import Testing

/// What a shell offers while a command is typed.
struct CompletionTests {
    private static let programs = [
        OffstageProgram.name: OffstageProgram.table.completions,
        GatewayProgram.name: GatewayProgram.table.completions,
    ]

    @Test(arguments: programs.keys)
    func theFilesAreTheTableOfCommands(_ program: String) throws {
        let completions = try #require(Self.programs[program])
        let folder = "share/completions/"
        try Document(folder + program + ".bash").expect(completions["bash"])
        try Document(folder + "_" + program).expect(completions["zsh"])
        try Document(folder + program + ".fish").expect(completions["fish"])
    }

    @Test(arguments: [
        ("offstage sta", ["status"]),
        (
            "offstage ",
            OffstageProgram.table.commands.map(\.name) + ["help"]
        ),
        ("offstage --", ["--version", "--socket"]), ("offstage --ver", ["--version"]),
        ("offstage help expl", ["explain"]), ("offstage history --si", ["--since"]),
        ("offstage set battery-m", ["battery-margin"]), ("offstage simulate f", ["fetch"]),
        ("offstage --socket /x hist", ["history"]),
        ("offstage open ", ["org.example.Reader", "newsboat", "command.backup", "backup"]),
        ("offstage explain back", ["backup"]), ("offstage set power a", ["auto"]),
        ("offstage set background-refresh de", ["default"]), ("offstage set battery a", ["auto"]),
        ("offstage explain --json news", ["newsboat"]),
        ("offstage open news", ["newsboat"]),
        (
            "offstage-gateway ",
            GatewayProgram.table.commands.map(\.name) + ["help"]
        ),
        ("offstage-gateway --", ["--version", "--directory"]),
        ("offstage-gateway --directory /x sen", ["send"]),
        ("offstage-gateway help sett", ["settings"]),
        ("offstage-gateway keys c", ["certificate"]),
        ("offstage-gateway send --coll", ["--collapse-id"]),
    ])
    func bashOffersWhatFits(_ typed: String, _ wanted: [String]) throws {
        let offered = try bashOffers(typed)
        #expect(Set(wanted).isSubset(of: offered), "\(offered)")
        if typed.last?.isLetter == true { #expect(offered == wanted) }
    }

    /// In the place of a value, and behind the last name: what is there are files, which bash
    /// offers by itself.
    @Test(arguments: [
        "offstage download -o ", "offstage lint ", "offstage explain newsboat ",
        "offstage set battery-margin 3 ", "offstage download --output = ",
        "offstage-gateway --directory ",
    ])
    func bashLeavesTheRestToFiles(_ typed: String) throws {
        #expect(try bashOffers(typed) == [])
    }

    @Test func bashOffersAConditionItsValues() throws {
        #expect(try bashOffers("offstage set power ") == ["off", "on", "auto"])
        #expect(try bashOffers("offstage set --app x background-refresh o") == ["on", "off"])
    }

    private func bashOffers(_ typed: String) throws -> [String] {
        let scratch = ScratchDirectory()
        let words = typed.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let file = try scratch.write("completion", Self.programs[words[0]]?["bash"] ?? "")
        // The daemon's answer, as the program prints it.
        try scratch.write(
            "offstage",
            "#!/bin/sh\necho '[\n  {\n    \"app\": \"org.example.Reader\"\n  },'\n"
                + "echo '  {\n    \"app\": \"newsboat\"\n  },'\n"
                + "echo '  {\n    \"app\": \"command.backup\"\n  }\n]'\n",
            permissions: 0o755
        )
        let script = """
            source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            function=$(complete -p "$1"); function=${function#*-F }; "${function%% *}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        var command = Command(["bash", "-c", script, "bash", file] + words)
        let path = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        command.environment = Command.cleanEnvironment(["PATH": scratch.path + ":" + path])
        let outcome = try command.run()
        #expect(outcome.succeeded && outcome.errors == "", "\(outcome)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    @Test(
        .enabled(if: Command.exists("fish"), "fish is not installed"),
        arguments: [
            ("offstage hist", ["history"]), ("offstage simulate f", ["fetch"]),
            ("offstage open news", ["newsboat"]), ("offstage-gateway sen", ["send"]),
            ("offstage set power o", ["off", "on"]), ("offstage set battery-m", ["battery-margin"]),
            ("offstage-gateway keys c", ["certificate"]),
            ("offstage-gateway send --coll", ["--collapse-id"]),
        ]
    )
    func fishOffersWhatFits(_ typed: String, _ wanted: [String]) throws {
        let scratch = ScratchDirectory()
        let program = String(typed.prefix { $0 != " " })
        let file = try scratch.write("completion", Self.programs[program]?["fish"] ?? "")
        try scratch.write(
            "offstage",
            "#!/bin/sh\necho '[ {\n    \"app\": \"newsboat\"\n  }\n]'\n",
            permissions: 0o755
        )
        var command = Command("fish", "--no-config", "-c", "source \(file); complete -C '\(typed)'")
        let path = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        command.environment = Command.cleanEnvironment([
            "PATH": scratch.path + ":" + path, "HOME": scratch.path,
        ])
        let outcome = try command.run()
        #expect(outcome.succeeded && outcome.errors == "", "\(outcome)")
        let offered = outcome.output.split(separator: "\n").map { $0.prefix { $0 != "\t" } }
        #expect(offered.map(String.init) == wanted)
    }

    @Test(
        .enabled(if: Command.exists("zsh"), "zsh is not installed"),
        arguments: programs.keys
    )
    func zshCanReadIts(_ program: String) throws {
        let text = try #require(Self.programs[program])["zsh"]
        let scratch = ScratchDirectory()
        let outcome = try Command("zsh", "-n", try scratch.write("completion", text)).run()
        #expect(outcome.succeeded && outcome.errors == "", "\(outcome)")
        // What stands between colons is an action: a name of an argument has none.
        #expect(!text.contains("HOST:PORT"))
    }
}
