import BuildIdentity
import Linux
import Vocabulary

/// `offstage-gateway`, from its arguments to its exit status.
package enum GatewayProgram {
    package static let name = "offstage-gateway"
    package static let introduction =
        "A push gateway of one's own: servers that send to APNs send to it by another host name, "
        + "devices hold one connection for all their apps."

    package static func main(_ arguments: [String]) -> Int32 {
        do throws(GatewayFailure) {
            // A connection that is gone is told by an error.
            try failing { try CurrentProcess.ignore(signal: Signal.pipe) }
            Clocks.readZone()
            try dispatch(arguments) { line in
                let output = FileDescriptor(owning: 1)
                let written: Void? = try? output.writeAll(line + "\n")
                _ = output.release()
                if written == nil { CurrentProcess.exit(1) }
            }
            return 0
        } catch {
            GatewayLog.write(error.message)
            if !error.fix.isEmpty { GatewayLog.write(error.fix) }
            return error.status.rawValue
        }
    }

    private static func dispatch(
        _ arguments: [String],
        _ print: @escaping (String) -> Void
    ) throws(GatewayFailure) {
        let general = try read(arguments, GatewayOption.common, inOrder: true)
        if arguments.first == "--version" { return print("\(name) \(Version.number)") }
        guard let word = general.operands.first else {
            guard general.has("help") else {
                throw GatewayFailure(
                    .usage,
                    "no command was given",
                    fix: "\"\(name) help\" lists them."
                )
            }
            return print(GatewayHelp.overview)
        }
        if word == "help" { return try help(Array(general.operands.dropFirst()), print) }
        let command = try command(named: word)
        let before = general.given.map { "--\($0.name)" + ($0.argument.map { "=" + $0 } ?? "") }
        let options = try read(
            before + general.operands.dropFirst(),
            command.options + GatewayOption.common,
            inOrder: false
        )
        if options.has("help") { return print(GatewayHelp.text(of: command)) }
        guard command.operands.contains(options.operands.count) else {
            let usage = command.forms.map { "\(name) \(command.name) \($0)" }
            throw GatewayFailure(
                .usage,
                "\(command.name) takes other operands",
                fix: "Usage: " + usage.joined(separator: "\n       ")
            )
        }
        try command.run(GatewayInvocation(options: options, print: print))
    }

    private static func help(
        _ words: [String],
        _ print: (String) -> Void
    ) throws(GatewayFailure) {
        switch words.first {
        case nil: print(GatewayHelp.overview)
        case "settings": print(GatewayHelp.settings)
        case "--man", "man": print(GatewayHelp.manual)
        case .some(let word): print(GatewayHelp.text(of: try command(named: word)))
        }
    }

    private static func command(named word: String) throws(GatewayFailure) -> GatewayCommand {
        if let command = GatewayCommand.all.first(where: { $0.name == word }) { return command }
        let near = Spelling.suggestion(for: word, among: GatewayCommand.all.map(\.name))
        throw GatewayFailure(
            .usage,
            "there is no command \(word.quoted)",
            fix: near.map { "Did you mean \($0)?" } ?? "\"\(name) help\" lists them."
        )
    }

    private static func read(
        _ arguments: [String],
        _ rows: [GatewayOption],
        inOrder: Bool
    ) throws(GatewayFailure) -> Options {
        do throws(Options.Failure) {
            return try Options(
                arguments.first == "--version" ? [] : arguments,
                rows.map {
                    Options.Option($0.name, nil, $0.argument == nil ? .none : .required)
                },
                inOrder: inOrder
            )
        } catch {
            switch error {
            case .missingArgument(let word):
                throw GatewayFailure(.usage, "\(word) needs an argument")
            case .unknown(let word):
                let option = String(word.prefix { $0 != "=" })
                let near = Spelling.suggestion(for: option, among: rows.map { "--" + $0.name })
                throw GatewayFailure(
                    .usage,
                    "there is no option \(option.quoted)",
                    fix: near.map { "Did you mean \($0)?" } ?? "\"\(name) help\" says more."
                )
            }
        }
    }
}
