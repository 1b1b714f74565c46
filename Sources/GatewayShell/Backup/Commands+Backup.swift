import CommandTable
import Linux
import Vocabulary

extension GatewayProgram {
    static let backup = Subcommand(
        "backup",
        "write all that a gateway needs to be restored into one file",
        forms: ["FILE"],
        operands: 1...1,
        options: [OptionRow("force", "replace FILE if it is there")],
        details: [
            "It may serve meanwhile. FILE is a tar archive with every secret of the gateway, "
                + "readable by its owner only; it appears when it is whole. Beside it, or in "
                + "$TMPDIR when FILE is -, standard output, there must be room for a second copy "
                + "of the store.",
            "To restore it, unpack it into an empty directory with \"tar -xpf\" and serve that. "
                + "Restore no other copy of the store: a backup is marked, so that the gateway "
                + "gives no number of a device that came later to another one.",
        ],
        examples: [
            Example("backup /var/backups/gateway.tar", "Fails if there is one of that name."),
            Example("backup --force gateway.tar", "Replaces the last one."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let path = invocation.operands[0]
        guard path == "-" else {
            let work = GatewayBackup(invocation.places, into: path)
            let result = try work.write(replacing: invocation.options.has("force"))
            return show(result, of: path, invocation)
        }
        guard !invocation.wantsJSON, !Terminal.isTerminal(1) else {
            let what = invocation.wantsJSON ? "--json would stand in" : "a terminal is no place for"
            throw Failure(.usage, "\(what) the archive", fix: "Name a file, or leave --json out.")
        }
        let directory = CurrentProcess.environment("TMPDIR") ?? ""
        let staging = (directory.isEmpty ? "/var/tmp" : directory) + "/offstage-gateway"
        for line in lines(
            try GatewayBackup(invocation.places, into: staging).writeToOutput(),
            of: path
        ) {
            invocation.console.printError(line)
        }
    }

    private static func show(
        _ result: GatewayBackup.Result,
        of path: String,
        _ invocation: GatewayInvocation
    ) {
        let report = Value.map([
            "file": .string(path), "bytes": .integer(result.bytes),
            "files": .list(result.files.map { .string($0) }),
            "leftOut": .list(result.leftOut.map { .string($0) }),
            "warning": result.warning.map { .string($0) } ?? .null,
        ])
        invocation.show(report) { _ in
            for line in lines(result, of: path) { invocation.console.print(line) }
        }
    }

    private static func lines(_ result: GatewayBackup.Result, of path: String) -> [String] {
        var lines = ["\(path): \(result.bytes) bytes, \(result.files.count) files"]
        if !result.leftOut.isEmpty {
            lines.append(
                "no files of a gateway, left out: \(result.leftOut.joined(separator: ", "))"
            )
        }
        if let warning = result.warning { lines.append(warning) }
        return lines
    }
}
