import CommandTable
import Linux
import Vocabulary

extension GatewayProgram {
    static let backup = Subcommand(
        "backup",
        "write everything needed to restore a gateway into one file",
        forms: ["FILE"],
        operands: 1...1,
        options: [OptionRow("force", "replace FILE if it exists")],
        details: [
            "The gateway may be running. FILE is a tar archive with every secret of the gateway, "
                + "readable by its owner only; it appears when it is complete. Its directory, "
                + "or $TMPDIR if FILE is - (standard output), needs room for a second copy of "
                + "the store.",
            "To restore it, unpack it into an empty directory with \"tar -xpf\" and serve that "
                + "directory. Do not restore any other copy of the store: only a backup has the "
                + "mark that keeps the gateway from assigning a device number twice.",
        ],
        examples: [
            Example("backup /var/backups/gateway.tar", "Write a backup; fails if the file exists."),
            Example("backup --force gateway.tar", "Replace an existing backup."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let path = invocation.operands[0]
        guard path == "-" else {
            let work = GatewayBackup(invocation.paths, into: path)
            let result = try work.write(replacing: invocation.options.has("force"))
            return show(result, of: path, invocation)
        }
        guard !invocation.wantsJSON, !Terminal.isTerminal(1) else {
            let what =
                invocation.wantsJSON ? "--json would be mixed with" : "a terminal cannot take"
            throw Failure(.usage, "\(what) the archive", fix: "Name a file, or leave --json out.")
        }
        let directory = CurrentProcess.environment("TMPDIR") ?? ""
        let staging = (directory.isEmpty ? "/var/tmp" : directory) + "/offstage-gateway"
        for line in lines(
            try GatewayBackup(invocation.paths, into: staging).writeToOutput(),
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
                "not files of a gateway, left out: \(result.leftOut.joined(separator: ", "))"
            )
        }
        if let warning = result.warning { lines.append(warning) }
        return lines
    }
}
