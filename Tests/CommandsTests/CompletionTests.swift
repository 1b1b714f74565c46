import Commands
import Linux
import TestKit
import Testing

/// What a shell offers while a command is typed.
struct CompletionTests {
    @Test func theFilesAreTheTableOfCommands() throws {
        try Document("share/completions/offstage.bash").expect(Completions.bash)
        try Document("share/completions/_offstage").expect(Completions.zsh)
        try Document("share/completions/offstage.fish").expect(Completions.fish)
    }

    @Test(arguments: [
        ("sta", ["status"]), ("", Subcommand.all.map(\.name) + ["help", "--version", "--socket"]),
        ("help expl", ["explain"]), ("history --si", ["--since"]),
        ("set battery-m", ["battery-margin"]),
        ("--socket /x hist", ["history"]), ("open ", ["org.example.Reader", "newsboat"]),
        ("open news", ["newsboat"]),
    ])
    func bashOffersWhatFits(_ typed: String, _ wanted: [String]) throws {
        let scratch = ScratchDirectory()
        let file = try scratch.write("offstage.bash", Completions.bash)
        // The daemon's answer, as the program prints it.
        try scratch.write(
            "offstage",
            "#!/bin/sh\necho '[\n  {\n    \"app\": \"org.example.Reader\"\n  },'\n"
                + "echo '  {\n    \"app\": \"newsboat\"\n  }\n]'\n",
            permissions: 0o755
        )
        let words =
            ["offstage"]
            + typed.split(separator: " ", omittingEmptySubsequences: false)
            .map(String.init)
        let script = """
            source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _offstage
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
        .enabled(if: Command.exists("zsh") || Command.exists("fish"), "neither zsh nor fish"),
        arguments: [("zsh", Completions.zsh), ("fish", Completions.fish)]
    )
    func otherShellsCanReadTheirs(_ shell: String, _ text: String) throws {
        guard Command.exists(shell) else { return }
        let scratch = ScratchDirectory()
        let outcome = try Command(shell, "-n", try scratch.write("completion", text)).run()
        #expect(outcome.succeeded && outcome.errors == "", "\(outcome)")
    }
}
