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
        OptionRow("proxy", "use this proxy; an empty URL is none", argument: "URL"),
        OptionRow(
            "limit-rate",
            "at most so many bytes a second, such as 500K",
            argument: "RATE"
        ),
        OptionRow("discretionary", "wait for an unmetered network, power and an idle device"),
        OptionRow("unmetered", "require an unmetered network"),
        OptionRow("power", "require external power"),
        OptionRow("after", "earliest begin, as a time from now, such as 2h", argument: "TIME"),
    ]

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
        manner.after = try invocation.interval("after")
        manner.proxy = options["proxy"]
        manner.rate = try rate(options["limit-rate"])
        manner.token = try Invocation.token()
        return manner
    }

    private func headers(_ given: [String]) throws(Failure) -> [String] {
        var headers: [String] = []
        for line in given {
            guard line.hasPrefix("@") else {
                headers.append(line)
                continue
            }
            headers += try Self.read(String(line.dropFirst())).split(whereSeparator: \.isNewline)
                .map { String($0) }
        }
        for header in headers where HTTPField(line: header) == nil {
            throw Failure(
                .usage,
                "--header \(header.quoted) is not a header",
                fix: "Write it as NAME: VALUE."
            )
        }
        return headers
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

    static func read(_ path: String) throws(Failure) -> String {
        do throws(LinuxError) {
            return try Files.text(path, limit: 8 << 20)
        } catch {
            throw Failure(.failed, "\(error)")
        }
    }

    /// Hands the files over; with `--wait` it waits for them. `urls`: where they are, or go.
    static func enqueue<Call: ControlCall>(
        _ call: Call,
        urls: [String],
        _ invocation: Invocation
    ) throws(Failure) where Call.Reply == EnqueuedTransfers {
        let reply = try invocation.ask(call, look: "offstage transfers")
        guard invocation.options.has("wait") else {
            return try invocation.show(reply) { reply in
                for (id, url) in zip(reply.transfers, urls) {
                    invocation.console.print("transfer \(id): \(url.printable)")
                }
            }
        }
        try TransferWatch(invocation, reply.transfers).waitForAll()
    }
}
