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
        ("offstage cancel ", ["newsboat", "12"]), ("offstage explain ", ["newsboat", "12", "13"]),
        ("offstage --json cancel new", ["newsboat"]),
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

    /// The numbers of transfers that something can be done about, options before them or not.
    @Test(arguments: [
        ("move --first ", ["12"]), ("move -d /x ", ["12"]), ("resume ", ["12"]),
        ("pause ", ["12"]), ("transfers --pause ", ["12"]), ("transfers --clear ", ["13"]),
        ("set --app new", ["newsboat"]), ("set --app = new", ["newsboat"]),
        ("set background-refresh off --app back", ["backup"]),
    ])
    func bashOffersWhatCanBeDoneTo(_ typed: String, _ wanted: [String]) throws {
        #expect(try bashOffers("offstage " + typed) == wanted)
    }

    /// An identifier that is a command to who expands it, and its form that can be typed.
    private static func hostile(_ scratch: ScratchDirectory) -> (name: String, typed: String) {
        let file = scratch("ran")
        return ("$(>\(file)) x", "\\$\\(\\>\(file)\\)\\ x")
    }

    @Test func `bash runs no app's name, and offers it as it is typed`() throws {
        let scratch = try Self.answering()
        let (name, typed) = Self.hostile(scratch)
        #expect(try bashOffers("offstage open ", scratch).contains(typed))
        #expect(try bashOffers("offstage open \\$", scratch) == [typed])
        #expect(try bashOffers("offstage set power --app \\$", scratch) == [typed])
        #expect(!scratch.entries.contains("ran"))
        #expect(try Command("bash", "-c", "printf %s \(typed)").run().output == name)
    }

    @Test(.enabled(if: Command.exists("fish"), "fish is not installed"))
    func `fish runs no app's name`() throws {
        let scratch = try Self.answering()
        #expect(try fishOffers("offstage open \\$", scratch) == [Self.hostile(scratch).name])
        #expect(!scratch.entries.contains("ran"))
    }

    @Test(.enabled(if: Command.exists("zsh"), "zsh is not installed"))
    func `zsh runs no app's name, and offers it whole`() throws {
        let scratch = try Self.answering()
        for typed in ["offstage open \\$", "offstage set --app \\$"] {
            #expect(try zshOffers(typed, scratch) == [Self.hostile(scratch).typed])
        }
        #expect(!scratch.entries.contains("ran"))
    }

    /// A folder with the program as completion asks it: some apps and two transfers.
    private static func answering() throws -> ScratchDirectory {
        let scratch = ScratchDirectory()
        try scratch.write(
            "offstage",
            """
            #!/bin/sh
            case $1 in
            apps)
                echo '['
                for app in org.example.Reader newsboat command.backup '\(hostile(scratch).name)'; do
                    printf '  {\n    "app": "%s"\n  },\n' "$app"
                done ;;
            transfers)
                printf '[\n  {\n    "id": 12,\n    "state": "waiting"\n  },\n'
                printf '  {\n    "id": 13,\n    "state": "failed"\n  }\n]\n' ;;
            esac

            """,
            permissions: 0o755
        )
        return scratch
    }

    private static func environment(_ scratch: ScratchDirectory) -> [String] {
        let path = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        return Command.cleanEnvironment([
            "PATH": scratch.path + ":" + path, "HOME": scratch.path,
        ])
    }

    private func bashOffers(_ typed: String, _ given: ScratchDirectory? = nil) throws -> [String] {
        let scratch = try given ?? Self.answering()
        let words = typed.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let file = try scratch.write("completion", Self.programs[words[0]]?["bash"] ?? "")
        let script = """
            source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            function=$(complete -p "$1"); function=${function#*-F }; "${function%% *}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        var command = Command(["bash", "-c", script, "bash", file] + words)
        command.environment = Self.environment(scratch)
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
            ("offstage move --first ", ["12"]), ("offstage pause ", ["12"]),
            ("offstage transfers --pause ", ["12"]), ("offstage transfers --clear ", ["13"]),
            ("offstage set --app new", ["newsboat"]),
            ("offstage --json set power o", ["off", "on"]),
        ]
    )
    func fishOffersWhatFits(_ typed: String, _ wanted: [String]) throws {
        #expect(try fishOffers(typed, Self.answering()) == wanted)
    }

    private func fishOffers(_ typed: String, _ scratch: ScratchDirectory) throws -> [String] {
        let program = String(typed.prefix { $0 != " " })
        let file = try scratch.write("completion", Self.programs[program]?["fish"] ?? "")
        var command = Command("fish", "--no-config", "-c", "source \(file); complete -C '\(typed)'")
        command.environment = Self.environment(scratch)
        let outcome = try command.run()
        #expect(outcome.succeeded && outcome.errors == "", "\(outcome)")
        return outcome.output.split(separator: "\n").map { line in
            String(line.prefix { $0 != "\t" })
        }
    }

    @Test(
        .enabled(if: Command.exists("zsh"), "zsh is not installed"),
        arguments: [
            ("offstage sta", ["status"]), ("offstage --json expl", ["explain"]),
            ("offstage --socket /x expl", ["explain"]), ("offstage help expl", ["explain"]),
            ("offstage set power o", ["off", "on"]),
            ("offstage set --json power o", ["off", "on"]),
            ("offstage set power --app new", ["newsboat"]), ("offstage simulate f", ["fetch"]),
            ("offstage cancel new", ["newsboat"]), ("offstage cancel 1", ["12"]),
            ("offstage move --first ", ["12"]), ("offstage transfers --cancel ", ["12"]),
            ("offstage transfers --clear ", ["13"]), ("offstage --json pause ", ["12"]),
            ("offstage history -n 3 new", ["newsboat"]), ("offstage history --si", ["--since"]),
            ("offstage-gateway keys c", ["certificate"]),
            ("offstage-gateway send --coll", ["--collapse-id"]),
        ]
    )
    func zshOffersWhatFits(_ typed: String, _ wanted: [String]) throws {
        #expect(try zshOffers(typed, Self.answering()) == Set(wanted))
    }

    /// As they are put on the line.
    private func zshOffers(_ typed: String, _ scratch: ScratchDirectory) throws -> Set<String> {
        let program = String(typed.prefix { $0 != " " })
        try scratch.write("functions/_" + program, Self.programs[program]?["zsh"] ?? "")
        // Keys are pressed in a shell of its own; what is given to compadd is offered.
        let script = """
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "stty -echo; PS1=; fpath=($1 \\$fpath)
            autoload -Uz compinit; compinit -D -u
            compadd() {
                local -a offered
                [[ \\${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] ||
                    builtin compadd -A offered \\"\\$@\\"
                (( \\$#offered )) && print -rl -- \\$offered >> $3
                builtin compadd \\"\\$@\\"
            }
            leave() { exit }
            comppostfuncs=(leave); bindkey '^I' complete-word; print RE''ADY"
            zpty -r shell text '*READY*'
            zpty -n -w shell "$2"$'\\t'
            zpty -r shell text '*never*'
            true
            """
        let (functions, file) = (scratch("functions"), scratch("offered"))
        var command = Command("zsh", "-f", "-c", script, "zsh", functions, typed, file)
        command.environment = Self.environment(scratch)
        let outcome = try command.run()
        #expect(outcome.succeeded && outcome.errors == "", "\(outcome)")
        return Set(try scratch.read("offered").split(separator: "\n").map(String.init))
    }

    /// A colon divides what is not meant to be divided, unless a \ stands before it.
    @Test func zshKeepsTheMarksOfDescriptions() throws {
        let text = OffstageProgram.table.completions["zsh"]
        let since = try #require(text.firstRange(of: "'--since=["))
        #expect(text[since.upperBound...].prefix { $0 != "'" }.contains("18\\:30"))
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
