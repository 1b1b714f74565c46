import Linux
import Testing
import Vocabulary
import Wire

/// Messages between daemon and network process: what is sent is read, and nothing else.
struct NetworkCodecTests {
    private static let id = TransferID(7)

    private static let order = ExchangeOrder(
        url: "https://a.example/file?a=b",
        headers: [HTTPField("Authorization", "Bearer a"), HTTPField("X-Empty", "")],
        resume: ResumePoint(offset: 10, validator: .entityTag("\"a\""), total: 20),
        errors: .fail,
        timeout: .seconds(5),
        sizeLimit: 1000,
        sha256: [UInt8](repeating: 7, count: 32),
        rateLimit: 1,
        proxy: ""
    )
    private static let sideBySide: ExchangeOrder = {
        var several = order
        several.moreConnections = 15
        several.resume?.offset = 0
        several.resume?.ranges = [5..<7, 8..<20]
        return several
    }()
    private static let answer = ExchangeAnswer(
        status: 206,
        headers: [HTTPField("ETag", "\"a\"")],
        url: "https://a.example/file",
        total: 20,
        validator: .lastModified("Sun, 01 Mar 2026 12:00:00 GMT"),
        offset: 10
    )

    private static let upload = UploadOrder(
        url: "https://a.example/in",
        method: .post,
        headers: [HTTPField("Authorization", "Bearer a")],
        source: FileIdentity(size: 20, modified: -5, inode: 7),
        resource: UploadResource(url: "https://a.example/made/1", interop: .six, offset: 10),
        interop: .six,
        mayRepeat: false,
        timeout: .seconds(5),
        rateLimit: 1,
        proxy: ""
    )
    private static let part = SentPart(
        count: 15,
        sha256: Bytes([UInt8](repeating: 9, count: 32))
    )
    private static let checked: UploadOrder = {
        var checked = upload
        checked.sent = part
        return checked
    }()
    private static let whole: ExchangeAnswer = {
        var whole = answer
        (whole.isWhole, whole.moreConnections) = (true, 2)
        return whole
    }()

    private static let removal = UploadRemoval(
        resource: UploadResource(url: "https://a.example/made/1", interop: .eight, offset: 10),
        url: upload.url,
        headers: upload.headers,
        proxy: "http://proxy:8080"
    )
    private static let taken: ExchangeAnswer = {
        var taken = ExchangeAnswer(status: 201, url: "https://a.example/made/1")
        taken.body = Bytes(Array("thanks".utf8))
        return taken
    }()
    private static let knowing: ExchangeOrder = {
        var credentials = Credentials()
        credentials.logins = [.init(host: "a.example", user: "me", password: "secret")]
        credentials.certificate = .init(certificate: "one", key: "two")
        var order = ExchangeOrder(url: "https://a.example/")
        order.credentials = credentials
        return order
    }()

    private static let orders: [NetworkOrder] = [
        .hello(version: 1), .begin(id, order), .begin(id, ExchangeOrder(url: "http://a/")),
        .begin(id, sideBySide), .proceed(id), .stop(id), .upload(id, upload),
        .stored(id, durable: 5),
        .upload(id, UploadOrder(url: "http://a/", source: upload.source)), .remove(removal),
        .begin(id, knowing), .upload(id, checked),
        orders { ($0.reportsChallenges, $0.credentials) = (true, credentials()) },
    ]
    private static let reports: [NetworkReport] = [
        .hello(version: 2, lacks: [.files, .calls]), .retires, .answered(id, answer),
        .answered(id, whole), .ranges(id, [1..<2, 3..<9]), .ranges(id, []),
        .answered(id, ExchangeAnswer(status: 0, url: "http://a/", startsAnew: true)),
        .progress(id, received: 10, durable: 5), .ended(id, .complete(size: 20), durable: 20),
        .ended(id, .interrupted(.init(.busy, reason: "503", retryAfter: .minutes(1))), durable: 0),
        .ended(id, .failed(ExchangeFailure(.checksum, reason: "another")), durable: 20),
        .resource(id, upload.resource), .resource(id, nil), .answered(id, taken),
        .sent(id, part),
        .ended(id, .challenged(ExchangeAnswer(status: 401, url: "http://a/")), durable: 0),
    ]

    /// With so many answers to challenges.
    private static func credentials(
        _ count: Int = 1,
        _ change: (inout Credentials.AnsweredChallenge) -> Void = { _ in }
    ) -> Credentials {
        var answer = Credentials.AnsweredChallenge(
            url: "http://a/",
            challenge: HTTPChallenge(scheme: "basic", parameters: [HTTPField("realm", "r")]),
            user: "me",
            password: "secret"
        )
        change(&answer)
        var credentials = Credentials()
        credentials.answers = Array(repeating: answer, count: count)
        return credentials
    }

    @Test func `what is sent is read`() throws {
        for order in Self.orders { #expect(try NetworkOrder(order.bytes()) == order) }
        for report in Self.reports { #expect(try NetworkReport(report.bytes()) == report) }
    }

    @Test func `what is compressed keeps its coding`() throws {
        let validator = Validator.encodedTag("\"a\"", coding: "x-gzip")
        let order = Self.orders { $0.resume?.validator = validator }
        #expect(try NetworkOrder(order.bytes()) == order)
        let report = Self.answers { $0.validator = validator }
        #expect(try NetworkReport(report.bytes()) == report)
    }

    /// `OFFSTAGE_WRITE_DOCUMENTS=1` adds those that are missing.
    @Test func `the fuzzer begins with each of these messages`() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let folder = "/\(root)/FuzzTesting/Corpus/FuzzNetworkLink"
        let kept = try Files.list(folder).map { try Files.read("\(folder)/\($0)", limit: 1 << 20) }
        for bytes in kept {
            let isMessage = (try? NetworkOrder(bytes)) != nil || (try? NetworkReport(bytes)) != nil
            #expect(isMessage, "\(bytes)")
        }
        let all = try Self.orders.map { try $0.bytes() } + Self.reports.map { try $0.bytes() }
        for (number, bytes) in all.enumerated() where !kept.contains(bytes) {
            guard CurrentProcess.environment("OFFSTAGE_WRITE_DOCUMENTS") == "1" else {
                Issue.record("message \(number) is not in the corpus")
                continue
            }
            let path = "\(folder)/message-\(number)"
            try FileDescriptor(opening: path, [.writing, .create, .truncate]).writeAll(bytes.span)
        }
    }

    @Test func `a message of the other side is none`() throws {
        for order in Self.orders {
            #expect(throws: NetworkError.self) { try NetworkReport(order.bytes()) }
        }
        // A greeting tells more than an order does.
        for report in Self.reports.dropFirst() {
            #expect(throws: NetworkError.self) { try NetworkOrder(report.bytes()) }
        }
    }

    @Test func `bytes that are cut, longer or changed break nothing`() throws {
        let all = try Self.orders.map { try $0.bytes() } + Self.reports.map { try $0.bytes() }
        for bytes in all {
            for count in bytes.indices {
                #expect(throws: NetworkError.self) { try NetworkOrder(Array(bytes[..<count])) }
                #expect(throws: NetworkError.self) { try NetworkReport(Array(bytes[..<count])) }
                for change: UInt8 in [1, 0x20, 0x80, 0xff] {
                    var changed = bytes
                    changed[count] ^= change
                    #expect(NetworkProperties.brokenRule(changed) == nil)
                }
            }
            #expect(throws: NetworkError.self) { try NetworkOrder(bytes + [0]) }
        }
        let long = [UInt8](repeating: 0, count: NetworkFormat.messageBytes + 1)
        #expect(throws: NetworkError("too long")) { try NetworkOrder(long) }
    }

    // MARK: What no such program says

    private static func orders(
        _ change: (inout ExchangeOrder) -> Void
    ) -> NetworkOrder {
        var order = order
        change(&order)
        return .begin(id, order)
    }

    private static func uploads(
        _ change: (inout UploadOrder) -> Void
    ) -> NetworkOrder {
        var order = upload
        change(&order)
        return .upload(id, order)
    }

    private static let line = String(repeating: "a", count: 4000)

    private static let badOrders: [(String, NetworkOrder)] = [
        ("version", .hello(version: 0)),
        ("version", .hello(version: -1)),
        ("url", orders { $0.url = "ftp://a/" }),
        ("url", orders { $0.url = "file:///etc/passwd" }),
        ("url", orders { $0.url = "http://a/b c" }),
        ("url", orders { $0.url = "http://a/\r\nX: y" }),
        ("url", orders { $0.url = "http://ü/" }),
        ("url", orders { $0.url = "http://a/" + line + line + line }),
        ("header field", orders { $0.headers = [HTTPField("", "a")] }),
        ("header field", orders { $0.headers = [HTTPField("a b", "a")] }),
        ("header field", orders { $0.headers = [HTTPField("a", "b\r\nc: d")] }),
        ("header field", orders { $0.headers = [HTTPField("a\r\nb", "c")] }),
        ("header field", orders { $0.headers = [HTTPField("a", "b\0")] }),
        ("header field", orders { $0.headers = [HTTPField("range", "bytes=0-")] }),
        ("header field", orders { $0.headers = [HTTPField("If-Range", "\"b\"")] }),
        ("header field", orders { $0.headers = [HTTPField("Accept-Encoding", "gzip")] }),
        ("header field", orders { $0.headers = [HTTPField("Host", "b")] }),
        (
            "header fields",
            orders { $0.headers = .init(repeating: HTTPField("a", "b"), count: 257) }
        ),
        (
            "header fields",
            orders { $0.headers = .init(repeating: HTTPField("a", line), count: 17) }
        ),
        ("offset", orders { $0.resume?.offset = 0 }),
        ("offset", orders { $0.resume?.offset = -1 }),
        ("offset", orders { $0.resume?.offset = 21 }),
        ("offset", orders { $0.resume?.total = -1 }),
        (
            "offset",
            orders { $0.resume = .init(offset: .max, validator: .entityTag("\"a\""), total: nil) }
        ),
        ("ranges", orders { $0.resume?.ranges = [10..<11] }),
        ("ranges", orders { $0.resume?.ranges = [11..<11] }),
        ("ranges", orders { $0.resume?.ranges = [15..<17, 12..<14] }),
        ("ranges", orders { $0.resume?.ranges = [12..<14, 14..<17] }),
        ("ranges", orders { $0.resume?.ranges = (6..<23).map { 2 * $0..<2 * $0 + 1 } }),
        (
            "ranges",
            orders {
                $0.resume?.ranges = [11..<12]
                $0.resume?.total = nil
            }
        ),
        ("offset", orders { $0.resume?.ranges = [19..<21] }),
        ("connections", orders { $0.moreConnections = -1 }),
        ("connections", orders { $0.moreConnections = 16 }),
        ("validator", orders { $0.resume?.validator = .entityTag("") }),
        ("validator", orders { $0.resume?.validator = .entityTag("\"a\"\r\nX: y") }),
        ("validator", orders { $0.resume?.validator = .lastModified(line) }),
        ("validator", orders { $0.resume?.validator = .encodedTag("\"a\"", coding: "") }),
        ("validator", orders { $0.resume?.validator = .encodedTag("\"a\"", coding: "a\nb") }),
        ("validator", orders { $0.resume?.validator = .encodedTag("\"a\"", coding: line) }),
        ("timeout", orders { $0.timeout = .zero }),
        ("timeout", orders { $0.timeout = .days(2) }),
        ("size limit", orders { $0.sizeLimit = -1 }),
        ("rate limit", orders { $0.rateLimit = 0 }),
        ("SHA-256", orders { $0.sha256 = [] }),
        ("SHA-256", orders { $0.sha256 = [UInt8](repeating: 0, count: 33) }),
        ("proxy", orders { $0.proxy = "http://a\n" }),
        ("answers", orders { $0.credentials = credentials(9) }),
        ("url", orders { $0.credentials = credentials { $0.url = "a" } }),
        ("password", orders { $0.credentials = credentials { $0.password = "a\nb" } }),
        ("password", orders { $0.credentials = credentials { $0.password = line + line } }),
        ("challenge", orders { $0.credentials = credentials { $0.challenge.scheme = "bearer" } }),
        ("url", uploads { $0.url = "ftp://a/" }),
        ("url", uploads { $0.resource?.url = "http://a/ b" }),
        ("header field", uploads { $0.headers = [HTTPField("Expect", "b")] }),
        ("header field", uploads { $0.headers = [HTTPField("Upload-Complete", "?1")] }),
        ("size", uploads { $0.source.size = -1 }),
        ("offset", uploads { $0.resource?.offset = -1 }),
        ("offset", uploads { $0.resource?.offset = 21 }),
        ("digest", uploads { $0.sent = SentPart(count: 21, sha256: part.sha256) }),
        ("digest", uploads { $0.sent = SentPart(count: 1, sha256: [1, 2]) }),
        ("digest", uploads { ($0.sent, $0.resource) = (part, nil) }),
        ("timeout", uploads { $0.timeout = .zero }),
        ("rate limit", uploads { $0.rateLimit = 0 }),
        ("proxy", uploads { $0.proxy = "http://a\n" }),
    ]

    @Test(arguments: badOrders.indices) func `a bad order is neither sent nor read`(_ index: Int) {
        let (what, order) = Self.badOrders[index]
        let refusal = NetworkError("no such \(what)")
        #expect(throws: refusal) { try order.bytes() }
        #expect(throws: refusal) { try NetworkOrder(order.bytesUnchecked) }
    }

    private static func answers(
        _ change: (inout ExchangeAnswer) -> Void
    ) -> NetworkReport {
        var answer = answer
        change(&answer)
        return .answered(id, answer)
    }

    private static func interrupted(_ wait: Interval, _ reason: String = "") -> NetworkReport {
        .ended(id, .interrupted(.init(.busy, reason: reason, retryAfter: wait)), durable: 0)
    }

    private static let badReports: [(String, NetworkReport)] = [
        ("version", .hello(version: 0, lacks: [])),
        ("part of a sandbox", .hello(version: 2, lacks: [.files, .files])),
        ("status", answers { $0.status = 1000 }),
        ("status", answers { $0.status = -1 }),
        ("url", answers { $0.url = "file:///etc/passwd" }),
        ("header field", answers { $0.headers = [HTTPField("a", "b\nc")] }),
        (
            "header fields",
            answers { $0.headers = .init(repeating: HTTPField("a", "b"), count: 257) }
        ),
        ("offset", answers { $0.offset = -1 }),
        ("offset", answers { $0.offset = 21 }),
        ("offset", answers { $0.total = .max }),
        ("offset", answers { $0.startsAnew = true }),
        ("connections", answers { $0.moreConnections = 16 }),
        ("ranges", .ranges(id, [0..<1])),
        ("ranges", .ranges(id, [5..<7, 7..<8])),
        ("ranges", .ranges(id, [1..<1 << 60 + 1])),
        ("ranges", .ranges(id, (1..<18).map { 2 * $0..<2 * $0 + 1 })),
        ("validator", answers { $0.validator = .entityTag(line) }),
        ("progress", .progress(id, received: 5, durable: 6)),
        ("progress", .progress(id, received: -1, durable: -2)),
        ("progress", .progress(id, received: .max, durable: 0)),
        ("durable", .ended(id, .complete(size: -1), durable: -1)),
        ("size", .ended(id, .complete(size: 5), durable: 4)),
        ("wait", interrupted(.seconds(29))),
        ("wait", interrupted(.days(2))),
        ("reason", interrupted(.minutes(1), "a\nb")),
        ("digest", .sent(id, SentPart(count: -1, sha256: part.sha256))),
        ("digest", .sent(id, SentPart(count: 1, sha256: []))),
        ("url", .resource(id, UploadResource(url: "a", interop: .eight))),
        ("offset", .resource(id, UploadResource(url: "http://a/", interop: .eight, offset: -1))),
        ("reason", .ended(id, .failed(.init(.file, reason: line + line + line)), durable: 0)),
        (
            "challenge",
            .ended(id, .challenged(ExchangeAnswer(status: 200, url: "http://a/")), durable: 0)
        ),
    ]

    @Test(arguments: badReports.indices)
    func `a bad report is neither sent nor read`(_ index: Int) {
        let (what, report) = Self.badReports[index]
        let refusal = NetworkError("no such \(what)")
        #expect(throws: refusal) { try report.bytes() }
        #expect(throws: refusal) { try NetworkReport(report.bytesUnchecked) }
    }
}
