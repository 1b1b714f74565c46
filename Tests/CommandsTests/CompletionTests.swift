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
            OffstageProgram.table.commands.map(\.name) + ["help", "--version", "--socket"]
        ),
        ("offstage help expl", ["explain"]), ("offstage history --si", ["--since"]),
        ("offstage set battery-m", ["battery-margin"]), ("offstage simulate f", ["fetch"]),
        ("offstage --socket /x hist", ["history"]),
        ("offstage open ", ["org.example.Reader", "newsboat"]),
        ("offstage open news", ["newsboat"]),
        (
            "offstage-gateway ",
            GatewayProgram.table.commands.map(\.name) + ["help", "--version", "--directory"]
        ),
        ("offstage-gateway --directory /x sen", ["send"]),
        ("offstage-gateway help sett", ["settings"]),
        ("offstage-gateway keys c", ["certificate"]),
        ("offstage-gateway send --coll", ["--collapse-id"]),
    ])
    func bashOffersWhatFits(_ typed: String, _ wanted: [String]) throws {
        let scratch = ScratchDirectory()
        let words = typed.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let file = try scratch.write("completion", Self.programs[words[0]]?["bash"] ?? "")
        // The daemon's answer, as the program prints it.
        try scratch.write(
            "offstage",
            "#!/bin/sh\necho '[\n  {\n    \"app\": \"org.example.Reader\"\n  },'\n"
                + "echo '  {\n    \"app\": \"newsboat\"\n  }\n]'\n",
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
        let offered = outcome.output.split(separator: "\n").map(String.init)
        #expect(Set(wanted).isSubset(of: offered), "\(offered)")
        if typed.last?.isLetter == true { #expect(offered == wanted) }
    }

    @Test(
        .enabled(if: Command.exists("fish"), "fish is not installed"),
        arguments: [
            ("offstage hist", ["history"]), ("offstage simulate f", ["fetch"]),
            ("offstage open news", ["newsboat"]), ("offstage-gateway sen", ["send"]),
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
