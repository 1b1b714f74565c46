import AppProtocol
import CommandTable
import Linux
import Vocabulary

extension OffstageProgram {
    static let upload = Subcommand(
        "upload",
        "send files in the background",
        forms: ["URL FILE..."],
        operands: 2...20_001,
        options: [
            OptionRow("method", "\(UploadMethod.choice); PUT is the default", argument: "METHOD"),
            OptionRow(
                "idempotent",
                "send a POST or PATCH again though the server may have the file already"
            ),
        ] + TransferOptions.rows + [
            OptionRow("wait", "return when the server has all files, or refuses", short: "w")
        ],
        details: [
            "The daemon sends the files as they are now; that is stored when this command returns. "
                + "A file that has changed when its turn comes is not sent. One that was removed "
                + "is sent all the same while the daemon has it open, which it has up to 64 files: "
                + "use \"offstage cancel\" to stop an upload. If URL ends with a slash, the name "
                + "of the file is appended to it; for several files it must.",
            "If the server supports resumable uploads (draft-ietf-httpbis-resumable-upload, "
                + "interop version 8 or 6), an interrupted upload goes on with what the server "
                + "does not have. Any other server is sent the whole file again. With POST or "
                + "PATCH the server might then have it twice, so an interrupted one fails instead, "
                + "unless --idempotent is given; each carries an Idempotency-Key.",
            "Transient errors are retried as for a download. With --wait the exit status is 1 if "
                + "a file was not accepted. Ctrl-C does not stop the upload. "
                + TransferOptions.waitDetails,
            TransferOptions.credentialDetails,
        ],
        examples: [
            Example("upload https://example.org/files/ a.iso b.iso", "Send two files."),
            Example(
                "upload --discretionary --method POST https://example.org/photos photo.jpg",
                "Send a photo when it costs least."
            ),
            Example("upload -w https://example.org/a.iso a.iso", "Wait until the server has it."),
        ],
        printsData: true
    ) { invocation throws(Failure) in
        let call = try uploadCall(invocation)
        try TransferOptions.enqueue(call, invocation)
    }

    private static func uploadCall(_ invocation: Invocation) throws(Failure) -> Control1.Upload {
        let url = invocation.operands[0]
        let paths = invocation.operands.dropFirst()
        guard url.contains("://") else {
            throw Failure(
                .usage,
                "upload: \(url.quoted) is not a URL",
                fix: "Give the URL first, then the files."
            )
        }
        guard paths.count == 1 || url.hasSuffix("/") else {
            throw Failure(
                .usage,
                "upload: \(url.quoted) can be the place of one file only",
                fix: "End it with a slash, or name one file."
            )
        }
        var call = Control1.Upload()
        for path in paths { call.files.append(try file(path, url)) }
        if let method = invocation.options["method"] {
            guard UploadMethod(rawValue: method.uppercased()) != nil else {
                throw Failure(
                    .usage,
                    "upload: --method \(method.quoted) is not supported",
                    fix: "Give \(UploadMethod.choice)."
                )
            }
            call.method = method.uppercased()
        }
        call.idempotent = invocation.options.has("idempotent")
        let isRepeated = UploadMethod(rawValue: call.method ?? "")?.isIdempotent ?? true
        guard !call.idempotent || !isRepeated else {
            throw Failure(
                .usage,
                "upload: --idempotent is for POST and PATCH only",
                fix: "Add --method POST, or leave it out: a PUT is sent again anyway."
            )
        }
        call.manner = try TransferOptions(invocation).manner()
        return call
    }

    /// The daemon follows no link, so the path that it gets has none.
    private static func file(
        _ path: String,
        _ url: String
    ) throws(Failure) -> Control1.UploadFile {
        guard path != "-" else {
            throw Failure(
                .usage,
                "upload: - would be standard input, which is not possible",
                fix: "Name a file: the daemon makes the transfer, not this terminal. A file of "
                    + "this name is ./-."
            )
        }
        guard let real = Files.resolved(path) else {
            throw Failure(.notFound, "upload: there is no file \(path.quoted)")
        }
        guard Files.status(real)?.kind == .file else {
            throw Failure(.failed, "upload: \(path.quoted) is not a file")
        }
        // The name that was typed, also if it is a link.
        let name = url.hasSuffix("/") ? percentEncoded(Files.name(of: path)) : ""
        return Control1.UploadFile(url: url + name, file: real)
    }

    /// As a part of the path of a URL.
    private static func percentEncoded(_ name: String) -> String {
        let plain = Array("-._~".utf8)
        var encoded = ""
        for byte in name.utf8 {
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte) || plain.contains(byte)
            let digits = String(byte, radix: 16, uppercase: true)
            encoded +=
                isPlain
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + digits
        }
        return encoded
    }
}
