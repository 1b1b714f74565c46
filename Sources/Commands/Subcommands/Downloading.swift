import AppProtocol
import CommandTable
import Linux
import Vocabulary

extension OffstageProgram {
    static let download = Subcommand(
        "download",
        "fetch files in the background",
        forms: ["URL..."],
        operands: 0...20_000,
        options: [
            OptionRow("output", "name of the file, for one URL", short: "o", argument: "FILE"),
            OptionRow(
                "directory",
                "where the files go (default: the current directory)",
                short: "d",
                argument: "DIRECTORY"
            ),
            OptionRow(
                "input",
                "read URLs from a file, one on each line; - is standard input",
                short: "i",
                argument: "FILE"
            ),
            OptionRow(
                "checksum",
                "what the file must have: the digits of its SHA-256, or sha256:DIGITS",
                argument: "SUM"
            ),
            OptionRow("overwrite", "replace an existing file when the new one is complete"),
            OptionRow(
                "connections",
                "fetch ranges of a file over so many connections, 1 to 16 (default: 1)",
                argument: "NUMBER"
            ),
        ] + TransferOptions.rows + [
            OptionRow("wait", "return when all files are complete or have failed", short: "w")
        ],
        details: [
            "The daemon fetches the files; they are stored as requested when this command "
                + "returns. A download survives the end of the terminal, of the daemon and of the "
                + "machine. It goes on where it stopped only if the server proves that the file "
                + "is still the same; else it starts anew. So a file never has parts of two "
                + "versions.",
            "Without --output a file gets the name that the server gives, else that of the URL. "
                + "While it is incomplete its name is hidden (.offstage-NUMBER.part). An existing "
                + "file is kept unless --overwrite is given. A file has the permissions that the "
                + "umask of this command leaves.",
            "An answer with status 400 or more leaves no file. Transient errors are retried after "
                + "1 s, then after twice as long each time, up to 10 minutes (plus up to half of "
                + "that at random), for a week. \"offstage transfers\" says what each one waits "
                + "for.",
            "With --connections a file is fetched in several ranges at once, if the server proves "
                + "for each that it is of the same version. Each connection counts as a transfer "
                + "against the settings transfers-per-host and transfer-slots; a download has as "
                + "many as there is room for when it begins.",
            "With --wait the exit status is 1 if a file could not be downloaded. Ctrl-C does not "
                + "stop the download. " + TransferOptions.waitDetails,
            TransferOptions.credentialDetails,
        ],
        examples: [
            Example("download https://example.org/a.iso", "Fetch a file into this directory."),
            Example(
                "download --discretionary -d ~/Podcasts -i list.txt",
                "Fetch the files of a list when it costs least."
            ),
            Example("download -w -o a.iso https://example.org/a.iso", "Wait for the file."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let call = try downloadCall(invocation)
        try TransferOptions.enqueue(call, invocation)
    }

    // MARK: What was typed

    private static func downloadCall(
        _ invocation: Invocation
    ) throws(Failure) -> Control1.Download {
        let options = invocation.options
        let urls = invocation.operands + (try listedURLs(options["input"]))
        guard !urls.isEmpty else {
            throw Failure(
                .usage,
                "download: no URL is given",
                fix: "Give one, or a file with --input."
            )
        }
        var call = Control1.Download()
        call.files = urls.map(Control1.DownloadFile.init(url:))
        if let output = options["output"] ?? options["checksum"], urls.count > 1 {
            throw Failure(
                .usage,
                "download: \(output.quoted) can be that of one file only",
                fix: "Give one URL, or leave --output and --checksum out."
            )
        }
        call.files[0].sha256 = try checksum(options["checksum"])
        try place(options, &call)
        call.overwrite = options.has("overwrite")
        call.connections = try connections(options["connections"])
        // The owner always reads and writes: the daemon does.
        let permissions = CurrentProcess.fileMask.map { Int64(0o666 & ~$0 | 0o600) }
        // Those it has anyway; a daemon that an older version has started knows no option for it.
        if permissions != 0o644 { call.permissions = permissions }
        call.manner = try TransferOptions(invocation).manner()
        return call
    }

    private static func listedURLs(_ path: String?) throws(Failure) -> [String] {
        guard let path else { return [] }
        let text = try TransferOptions.read(path == "-" ? "/dev/stdin" : path)
        var urls: [String] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let url = line.trimmed
            if url.isEmpty || url.hasPrefix("#") { continue }
            guard url.contains("://") else {
                throw Failure(
                    .usage,
                    "download: line \(index + 1) of \(path.quoted) is no URL: \(url.quoted)",
                    fix: "Begin it with https:// or http://."
                )
            }
            urls.append(url)
        }
        return urls
    }

    private static func checksum(_ text: String?) throws(Failure) -> String? {
        guard let text else { return nil }
        // As sha256sum prints it, too.
        let prefix = "sha256:"
        let digits = text.lowercased().hasPrefix(prefix) ? text.dropFirst(prefix.count) : text[...]
        guard Checksum.bytes(String(digits)) != nil else {
            throw Failure(
                .usage,
                "download: --checksum \(text.quoted) is not a SHA-256",
                fix: "Write its 64 hexadecimal digits; sha256sum prints them."
            )
        }
        return String(digits)
    }

    private static func connections(_ text: String?) throws(Failure) -> Int64? {
        guard let text else { return nil }
        let most = Int64(ExchangeOrder.mostConnections)
        guard let number = Int64(text), (1...most).contains(number) else {
            throw Failure(
                .usage,
                "download: --connections \(text.quoted) is not a number from 1 to \(most)",
                fix: "A server that is asked more often at once may refuse all of it."
            )
        }
        return number
    }

    private static func place(
        _ options: Options,
        _ call: inout Control1.Download
    ) throws(Failure) {
        let place = try FilePlace(options, of: "download")
        (call.directory, call.files[0].file) = (place.directory, place.name)
        guard let file = place.name else { return }
        let path = "\(place.directory)/\(file)"
        if Files.status(path)?.kind == .directory {
            throw Failure(
                .failed,
                "download: \(path.quoted) is a directory",
                fix: "Name it with --directory, and the file, if at all, with --output."
            )
        }
        if let kind = Files.status(path, followLinks: false)?.kind, kind != .file, kind != .link {
            throw Failure(
                .failed,
                "download: \(path.quoted) is \(kind.noun), which is not replaced",
                fix: "Give another name."
            )
        }
        if !options.has("overwrite"), Files.exists(path) {
            throw Failure(
                .failed,
                "download: \(path.quoted) exists already",
                fix: "Give another name, or --overwrite."
            )
        }
    }
}

/// Where a file goes, as `--directory` and `--output` say.
struct FilePlace {
    /// The daemon follows no link, so the path that it gets has none.
    let directory: String
    /// Nil: nobody has said.
    let name: String?

    init(_ options: Options, of command: String) throws(Failure) {
        var directory = options["directory"] ?? "."
        var name: String?
        if let output = options["output"] {
            guard output != "-" else {
                throw Failure(
                    .usage,
                    "\(command): --output - would be standard output, which is not possible",
                    fix: "Name a file: the daemon makes the transfer, not this terminal."
                )
            }
            let last = Files.name(of: output)
            guard !last.isEmpty, last != ".", last != ".." else {
                throw Failure(
                    .usage,
                    "\(command): --output \(output.quoted) names no file",
                    fix: "Give the name of a file; --directory names a directory."
                )
            }
            name = last
            let own = output.contains("/") ? Files.directory(of: output) : ""
            if own.hasPrefix("/") {
                directory = own
            } else if !own.isEmpty {
                directory += "/" + own
            }
        }
        let status = Files.status(directory)
        guard status?.kind == .directory, let path = Files.resolved(directory) else {
            throw Failure(
                .failed,
                "\(command): \(directory.quoted) is not a directory",
                fix: "Make it, or name another with --directory."
            )
        }
        if let problem = Files.writingProblem(path) {
            throw Failure(
                .failed,
                "\(command): no file can be made in \(path.quoted): \(problem.text)",
                fix: "Name another directory with --directory."
            )
        }
        (self.directory, self.name) = (path, name)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let start = drop { $0.isWhitespace }
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...end])
    }
}
