import AppProtocol
import CommandTable
import Linux
import Vocabulary

extension OffstageProgram {
    static let transfers = Subcommand(
        "transfers",
        "list downloads and uploads, and pause, resume or cancel them",
        forms: ["[--watch]", "--pause|--resume|--cancel ID...", "--clear [ID...]"],
        operands: 0...1024,
        options: [
            OptionRow("watch", "show progress until all have ended", short: "w"),
            OptionRow("pause", "stop these until they are resumed"),
            OptionRow("resume", "go on with these; one that waits for a new attempt tries now"),
            OptionRow("cancel", "end these, and remove what has been fetched of their files"),
            OptionRow("clear", "forget these, or all, that have ended"),
        ],
        details: [
            "A transfer that has ended is listed for a week, unless --clear forgets it before."
        ],
        examples: [
            Example("transfers", "What is fetched or sent, and what each one waits for."),
            Example("transfers --watch", "The same with progress bars."),
            Example("transfers --pause 12 13", "Stop two transfers for now."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let actions = Control1.TransferAction.allCases.filter {
            invocation.options.has($0.option)
        }
        let watches = invocation.options.has("watch")
        guard actions.count + (watches ? 1 : 0) <= 1 else {
            throw Failure(
                .usage,
                "transfers: only one of --watch, --pause, --resume, --cancel and --clear at once",
                fix: "Type one command for each."
            )
        }
        let ids = try numbers(invocation.operands)
        if let action = actions.first { return try change(action, ids, invocation) }
        guard ids.isEmpty else {
            throw Failure(
                .usage,
                "transfers: what is to be done with \(invocation.operands[0])?",
                fix: "Say --pause, --resume, --cancel or --clear."
            )
        }
        if watches {
            try TransferWatch(invocation, nil).watch()
            return
        }
        let list = try invocation.ask(Control1.Transfers())
        try invocation.show(list) { list in
            if list.isEmpty { return invocation.console.print("There are no transfers.") }
            var table = Table("ID", "DIRECTION", "FILE", "STATE", "DONE", "WHY")
            for transfer in list {
                let transfer = transfer.report
                table.add(
                    "\(transfer.id)",
                    transfer.direction,
                    transfer.shownName,
                    transfer.state,
                    transfer.done,
                    transfer.sentence
                )
            }
            table.print(invocation.console)
        }
    }

    private static func change(
        _ action: Control1.TransferAction,
        _ ids: [Int64],
        _ invocation: Invocation
    ) throws(Failure) {
        guard !ids.isEmpty || action == .forget else {
            throw Failure(
                .usage,
                "transfers: --\(action.option) needs the number of a transfer",
                fix: "\"offstage transfers\" lists them."
            )
        }
        let call = Control1.ChangeTransfers { ($0.action, $0.transfers) = (action, ids) }
        try invocation.ask(call, look: "offstage transfers")
    }

    private static func numbers(_ operands: [String]) throws(Failure) -> [Int64] {
        var numbers: [Int64] = []
        for operand in operands {
            guard let number = Int64(operand), number > 0 else {
                throw Failure(
                    .usage,
                    "transfers: \(operand.quoted) is not the number of a transfer",
                    fix: "\"offstage transfers\" lists them."
                )
            }
            numbers.append(number)
        }
        return numbers
    }
}

extension Control1.TransferAction {
    /// As it is typed.
    fileprivate var option: String { self == .forget ? "clear" : rawValue }
}

extension Report.Transfer {
    /// The file's name, as far as it is known.
    var shownName: String { file ?? url.split(separator: "/").last.map(String.init) ?? url }

    /// How much of it is there.
    var done: String {
        guard let total, total > 0 else { return ByteSize.text(received) }
        return "\(received * 100 / total) % of \(ByteSize.text(total))"
    }

    var hasEnded: Bool { ended != nil }
}
