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
            OptionRow("resume", "resume these; one that waits for its next attempt tries now"),
            OptionRow("cancel", "end these, and remove what has been fetched of their files"),
            OptionRow("clear", "forget these, or all, that have ended"),
        ],
        details: [
            "Each has a number, by which \"offstage pause\", \"resume\", \"cancel\", \"move\" and "
                + "\"explain\" name it; the options --pause, --resume and --cancel do the same as "
                + "the first three. Those that wait are listed in the order of their turn.",
            "A transfer that has ended is listed for a week, unless --clear forgets it before.",
        ],
        examples: [
            Example("transfers", "What is fetched or sent, and what each one waits for."),
            Example("transfers --watch", "The same with progress bars."),
            Example("transfers --clear", "Forget those that have ended."),
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
        let ids = try numbers(invocation.operands, of: "transfers")
        if let action = actions.first { return try changeTransfers(action, ids, invocation) }
        guard ids.isEmpty else {
            throw Failure(
                .usage,
                "transfers: what is to be done with \(invocation.operands[0])?",
                fix: "Say --pause, --resume, --cancel or --clear."
            )
        }
        if watches {
            let last = try TransferWatch(invocation, nil).watch()
            // Where nobody has seen it.
            if !invocation.console.errorsAreSeen || invocation.wantsJSON {
                try show(last, invocation)
            }
            return
        }
        try show(try invocation.transfers(), invocation)
    }

    private static func show(
        _ list: [Report.Transfer],
        _ invocation: Invocation
    ) throws(Failure) {
        try invocation.show(list) { list in
            if list.isEmpty { return invocation.console.print("There are no transfers.") }
            var table = Table([
                Table.Column("ID"), Table.Column("DIRECTION"),
                Table.Column("FILE", hasNames: true), Table.Column("STATE"), Table.Column("DONE"),
                Table.Column("WHY", hasNames: true),
            ])
            for transfer in list {
                table.add(
                    "\(transfer.id)",
                    transfer.direction.text,
                    transfer.shownName,
                    transfer.state.text,
                    transfer.done,
                    transfer.sentence
                )
            }
            table.print(invocation.console)
        }
    }

    static func changeTransfers(
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
        let before = ids.isEmpty ? [] : try invocation.transfers(ids)
        try invocation.ask(call, look: "offstage transfers")
        // Asked for twice, it is no failure; nothing may have been done all the same.
        for transfer in before where transfer.hasEnded != (action == .forget) {
            invocation.say(
                transfer.hasEnded
                    ? "transfer \(transfer.id) has ended already"
                    : "transfer \(transfer.id) has not ended, and is kept"
            )
        }
        invocation.report(["transfers": .list(ids.map { .integer($0) })])
    }

    static func numbers(_ operands: [String], of command: String) throws(Failure) -> [Int64] {
        var numbers: [Int64] = []
        for operand in operands {
            guard let number = Int64(operand), number > 0 else {
                throw Failure(
                    .usage,
                    "\(command): \(operand.quoted) is not the number of a transfer",
                    fix: "\"offstage transfers\" lists them."
                )
            }
            numbers.append(number)
        }
        return numbers
    }

    /// Before the server has said another: the end of its address.
    static func fileName(ofURL url: String) -> String {
        let address = url.prefix { $0 != "?" && $0 != "#" }
        return address.split(separator: "/").last.map(String.init) ?? url
    }

    static let resume = Subcommand(
        "resume",
        "resume paused transfers",
        forms: ["ID..."],
        operands: 1...1024,
        details: [
            "A transfer that waits for its next attempt tries at once. A pause of all background "
                + "work ends with \"offstage continue\"."
        ],
        examples: [Example("resume 12", "Resume a transfer.")],
        printsData: true
    ) { invocation throws(Failure) in
        try changeTransfers(.resume, try numbers(invocation.operands, of: "resume"), invocation)
    }

    static let move = Subcommand(
        "move",
        "change when transfers have their turn, or where their files go",
        forms: ["--first|--last ID...", "[-d DIRECTORY] [-o FILE] ID..."],
        operands: 1...1024,
        options: [
            OptionRow("first", "before all others that wait"),
            OptionRow("last", "after all others that wait"),
            OptionRow(
                "directory",
                "where the files go",
                short: "d",
                argument: "DIRECTORY"
            ),
            OptionRow("output", "name of the file, for one transfer", short: "o", argument: "FILE"),
            OptionRow("overwrite", "replace an existing file when the new one is complete"),
        ],
        details: [
            "The order decides who begins when there is room; what runs is not stopped by it. "
                + "Several transfers keep the order in which they are named.",
            "What has been fetched of a file follows it to another directory of the same file "
                + "system; a running download goes on there. A download of which something has "
                + "been fetched is not moved to another file system, nor is the file of an upload. "
                + "What has ended is an ordinary file: use mv.",
        ],
        examples: [
            Example("move --first 12", "Begin transfer 12 before the others."),
            Example("move -d ~/Videos 12 13", "Put two files elsewhere."),
            Example("move -o b.iso 12", "Give the file another name."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let options = invocation.options
        var call = Control1.MoveTransfers()
        call.transfers = try numbers(invocation.operands, of: "move")
        guard !(options.has("first") && options.has("last")) else {
            throw Failure(
                .usage,
                "move: only one of --first and --last at once",
                fix: "Name one of them."
            )
        }
        if options.has("first") { call.place = .first }
        if options.has("last") { call.place = .last }
        call.overwrite = options.has("overwrite")
        if options["directory"] != nil || options["output"] != nil {
            let place = try FilePlace(options, of: "move")
            // A bare name stays in the directory where the file is to go already.
            let isBare = options["directory"] == nil && options["output"]?.contains("/") == false
            (call.directory, call.file) = (isBare ? nil : place.directory, place.name)
            if call.file != nil, call.transfers.count > 1 {
                throw Failure(
                    .usage,
                    "move: one name can be that of one file only",
                    fix: "Name one transfer, or leave --output out."
                )
            }
        }
        guard call.place != nil || call.directory != nil || call.file != nil || call.overwrite
        else {
            throw Failure(
                .usage,
                "move: where to?",
                fix: "Say --first, --last, --directory, --output or --overwrite."
            )
        }
        try invocation.ask(call, look: "offstage transfers")
        invocation.report(["transfers": .list(call.transfers.map { .integer($0) })])
    }
}

extension Invocation {
    /// Nil: the operands are something else. A number without a unit is no time, and no app that
    /// has a program is called by one.
    var transferIDs: [Int64]? {
        let ids = operands.compactMap { Int64($0) }
        return ids.count == operands.count && ids.allSatisfy { $0 > 0 } && !ids.isEmpty ? ids : nil
    }
}

extension Control1.TransferAction {
    /// As it is typed.
    fileprivate var option: String { self == .forget ? "clear" : rawValue }
}

extension Report.Transfer {
    /// Of its file, as far as it is known.
    var path: String {
        guard let file else { return directory }
        return directory.hasSuffix("/") ? directory + file : "\(directory)/\(file)"
    }

    /// The file's name, as far as it is known.
    var shownName: String { file ?? OffstageProgram.fileName(ofURL: url) }

    /// For where its number stands already.
    var sentenceWithoutNumber: String {
        let sentence = sentence.printable
        let start = "transfer \(id) "
        return sentence.hasPrefix(start) ? String(sentence.dropFirst(start.count)) : sentence
    }

    /// How much of it is there.
    var done: String {
        guard let total, total > 0 else { return ByteSize.text(received) }
        return "\(received * 100 / total) % of \(ByteSize.text(total))"
    }

    var hasEnded: Bool { ended != nil }
}
