import AppProtocol
import CommandTable
import Linux
import Vocabulary

/// The options that downloads and uploads have in common.
struct TransferOptions {
    private let invocation: Invocation

    static let rows = [
        OptionRow(
            "header",
            "send this header, written NAME: VALUE; @FILE reads a file with one on each line",
            argument: "LINE"
        ),
        OptionRow(
            "cookies",
            "send the cookies of this file, which is in Netscape's format",
            argument: "FILE"
        ),
        OptionRow("netrc", "log in with the names and passwords of ~/.netrc"),
        OptionRow("cert", "show this client certificate, in PEM", argument: "FILE"),
        OptionRow("key", "the key of --cert, unless it is in the same file", argument: "FILE"),
        OptionRow("proxy", "use this proxy; an empty URL is none", argument: "URL"),
        OptionRow(
            "limit-rate",
            "at most so many bytes a second for each file, such as 500K",
            argument: "RATE"
        ),
        OptionRow("discretionary", "wait for an unmetered network, power and an idle device"),
        OptionRow("unmetered", "require an unmetered network, and low-data mode off"),
        OptionRow("power", "require external power"),
        OptionRow(
            "after",
            "earliest begin: a time from now, such as 2h, or a date or time of day, such as "
                + "2026-12-24 or 18:30",
            argument: "TIME"
        ),
        OptionRow(
            "notify",
            "show a notification on the desktop when all have ended, one for each 10,000 files"
        ),
    ]

    /// Of downloads and uploads alike.
    static let credentialDetails =
        "The files of --cookies, --netrc, --cert and --key are read for each attempt, so they have "
        + "to stay; no copy of them is kept. A cookie or a password goes only to the hosts that "
        + "its file names, and a certificate only to the server of URL."

    /// The same.
    static let waitDetails =
        "If standard error is no terminal, a line there names each transfer that ends, and each "
        + "new reason why one of the next ten waits."

    init(_ invocation: Invocation) { self.invocation = invocation }

    /// As it was typed.
    func manner() throws(Failure) -> Control1.TransferManner {
        let options = invocation.options
        var manner = Control1.TransferManner()
        let headers = try headers(options.all("header"))
        if !headers.isEmpty { manner.headers = headers }
        manner.discretionary = options.has("discretionary")
        manner.needs.unmetered = options.has("unmetered")
        manner.needs.power = options.has("power")
        let start = try invocation.timeToCome(option: "after")
        (manner.after, manner.earliest) = (start?.span, start?.date)
        manner.proxy = options["proxy"]
        manner.rate = try rate(options["limit-rate"])
        manner.credentials = try credentials()
        manner.notifies = options.has("notify")
        manner.token = try Invocation.token()
        return manner
    }

    private func headers(_ given: [String]) throws(Failure) -> [String] {
        var headers: [String] = []
        for line in given {
            guard line.hasPrefix("@") else {
                headers.append(try Self.header(line, "--header \(line.quoted)"))
                continue
            }
            let path = String(line.dropFirst())
            let lines = try Self.read(path)
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            for (index, line) in lines.enumerated() where !line.isEmpty {
                let text = String(line)
                let place = "--header: \(text.quoted), line \(index + 1) of \(path.quoted),"
                headers.append(try Self.header(text, place))
            }
        }
        return headers
    }

    /// `place`: what it is called if it is none.
    private static func header(_ line: String, _ place: String) throws(Failure) -> String {
        guard HTTPField(line: line) != nil else {
            throw Failure(
                .usage,
                "\(place) is not a header",
                fix: "Write it as NAME: VALUE."
            )
        }
        return line
    }

    /// The daemon follows no link, so the paths that it gets have none.
    private func credentials() throws(Failure) -> CredentialFiles {
        let options = invocation.options
        var files = CredentialFiles()
        files.cookies = try file("cookies", options["cookies"])
        if options.has("netrc") {
            guard let home = CurrentProcess.environment("HOME") else {
                throw Failure(.failed, "--netrc: HOME is not set")
            }
            files.netrc = try file("netrc", home + "/.netrc")
        }
        files.certificate = try file("cert", options["cert"])
        files.key = try file("key", options["key"])
        if files.key != nil, files.certificate == nil {
            throw Failure(
                .usage,
                "--key has no --cert",
                fix: "Give the certificate that the key belongs to."
            )
        }
        return files
    }

    private func file(_ option: String, _ path: String?) throws(Failure) -> String? {
        guard let path else { return nil }
        guard let real = Files.resolved(path) else {
            throw Failure(.notFound, "--\(option): there is no file \(path.quoted)")
        }
        guard Files.status(real)?.kind == .file else {
            throw Failure(
                .failed,
                "--\(option): \(path.quoted) is not a file",
                fix: "It is read for each attempt, so it has to stay."
            )
        }
        return real
    }

    private func rate(_ text: String?) throws(Failure) -> Int64? {
        guard let text else { return nil }
        guard let rate = ByteSize.parse(text), rate > 0 else {
            throw Failure(
                .usage,
                "--limit-rate \(text.quoted) is not a number of bytes",
                fix: "Write it as 500K or 2M."
            )
        }
        return rate
    }

    private static let longestFile = 8 << 20

    static func read(_ path: String) throws(Failure) -> String {
        do throws(LinuxError) {
            return try Files.text(path, limit: longestFile)
        } catch  where error.errno == .tooLarge {
            throw Failure(.failed, "\(path.printable) has more than \(longestFile) bytes")
        } catch  where error.errno == .noEntry {
            throw Failure(.notFound, "there is no file \(path.quoted)")
        } catch  where error.errno == .isDirectory {
            throw Failure(.failed, "\(path.quoted) is a directory", fix: "Name a file.")
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    /// Hands the files over; with `--wait` it waits for them.
    static func enqueue(
        _ call: some EnqueueCall,
        _ invocation: Invocation
    ) throws(Failure) {
        let start = try invocation.timeToCome(option: "after")
        let enqueued = try handOver(call, invocation)
        for name in enqueued.unsensed ?? [] {
            invocation.say("warning: " + OffstageProgram.unsensed(name))
        }
        guard invocation.options.has("wait") else {
            return try invocation.show(enqueued) { reply in
                for (id, file) in zip(reply.transfers, call.files) {
                    let url = file.url.withoutPassword.printable
                    invocation.console.print("transfer \(id): \(url)")
                }
                if let start { invocation.console.print("Not before \(start.text).") }
            }
        }
        try TransferWatch(invocation, enqueued.transfers).waitForAll()
    }

    /// In as many calls as it takes, one after the other.
    private static func handOver(
        _ call: some EnqueueCall,
        _ invocation: Invocation
    ) throws(Failure) -> EnqueuedTransfers {
        var ids: [Int64] = []
        var unsensed: [String]?
        let parts = call.parts
        // One alone is refused or taken as a whole.
        if parts.count > 1 {
            for part in parts { try check(part.encoded) }
        }
        for var part in parts {
            // With the token of the first one it would be answered as that.
            if !ids.isEmpty { part.manner.token = try Invocation.token() }
            do throws(Failure) {
                let told = try invocation.ask(part, look: "offstage transfers")
                ids += told.transfers
                unsensed = told.unsensed
            } catch {
                guard let first = ids.first, let last = ids.last else { throw error }
                var failure = error
                failure.message +=
                    "; the first \(ids.count) files are stored, as transfers \(first) to \(last): "
                    + "repeat it with the rest"
                throw failure
            }
        }
        return EnqueuedTransfers(transfers: ids, unsensed: unsensed)
    }

    /// What the daemon would refuse of a call however it stands with transfers.
    private static func check(_ call: EncodedCall) throws(Failure) {
        do throws(OptionError) {
            _ = try Control1.row(call.method)?.call(call.arguments)
        } catch {
            let message = error.reason + (error.value.isEmpty ? "" : ": \(error.value)")
            var failure = Failure(.usage, message.printable, fix: error.fix.printable)
            failure.isFixInLine = true
            throw failure
        }
    }
}
