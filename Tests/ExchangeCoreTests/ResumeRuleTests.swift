import ExchangeCore
import Testing
import Vocabulary

/// What an exchange makes of answers, one by one.
struct ResumeRuleTests {
    private static let tag = "\"one\""
    private static let point = ResumePoint(offset: 40, validator: .entityTag(tag), total: 100)

    private static func fresh(_ errors: ExchangeOrder.ErrorAnswers = .fail) -> Exchange {
        begun(ExchangeOrder(url: "http://a.example/file", errors: errors))
    }

    private static func resumed(
        _ point: ResumePoint = point,
        _ errors: ExchangeOrder.ErrorAnswers = .fail
    ) -> Exchange {
        begun(ExchangeOrder(url: "http://a.example/file", resume: point, errors: errors))
    }

    private static func begun(_ order: ExchangeOrder) -> Exchange {
        var exchange = Exchange(order)
        #expect(exchange.begin() == [.request])
        return exchange
    }

    private static func head(
        _ status: Int,
        _ fields: KeyValuePairs<String, String> = [:],
        length: Int64? = nil
    ) -> Exchange.Head {
        Exchange.Head(
            status: status,
            fields: fields.map { HTTPField($0.key, $0.value) },
            length: length
        )
    }

    private static func part(
        _ range: String,
        _ tag: String? = tag,
        length: Int64? = nil,
        more: KeyValuePairs<String, String> = [:]
    ) -> Exchange.Head {
        var head = head(206, more, length: length)
        head.fields.append(HTTPField("Content-Range", range))
        if let tag { head.fields.append(HTTPField("ETag", tag)) }
        return head
    }

    private func end(_ actions: [Exchange.Action]) -> ExchangeEnd? {
        for case .end(let end) in actions { return end }
        return nil
    }

    private func failure(_ actions: [Exchange.Action]) -> ExchangeFailure.Code? {
        if case .failed(let failure) = end(actions) { failure.code } else { nil }
    }

    private func interrupted(_ actions: [Exchange.Action]) -> ExchangeEnd.Interruption? {
        if case .interrupted(let interruption) = end(actions) { interruption } else { nil }
    }

    private func told(_ actions: [Exchange.Action]) -> ExchangeAnswer? {
        for case .answered(let answer) in actions { return answer }
        return nil
    }

    // MARK: Requests

    @Test func `a first request asks for the object as it is, and for no part`() {
        let exchange = Self.fresh()
        #expect(exchange.fields == [HTTPField("Accept-Encoding", "identity")])
    }

    @Test func `a later request asks for the rest of the same version only`() {
        let exchange = Self.resumed()
        #expect(exchange.fields.value(of: "Range") == "bytes=40-")
        #expect(exchange.fields.value(of: "If-Range") == Self.tag)
    }

    @Test func `nothing is asked for when all is there`() {
        var point = Self.point
        point.offset = 100
        var exchange = Exchange(ExchangeOrder(url: "http://a.example/", resume: point))
        #expect(exchange.begin() == [.end(.complete(size: 100))])
    }

    // MARK: Whole objects

    @Test func `a whole object is complete at its length`() throws {
        var exchange = Self.fresh()
        let actions = exchange.answered(Self.head(200, ["ETag": Self.tag], length: 10))
        #expect(actions.first == .truncate)
        let answer = try #require(told(actions))
        #expect(answer.validator == .entityTag(Self.tag) && answer.total == 10)
        #expect(!answer.startsAnew)
        #expect(exchange.received(4).offset == 0)
        #expect(exchange.received(6).offset == 4)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 10))])
        #expect(exchange.stop() == [])
    }

    @Test func `without a length the object ends where the body does`() {
        var exchange = Self.fresh()
        _ = exchange.answered(Self.head(200))
        _ = exchange.received(7)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 7))])
    }

    @Test func `fewer bytes than said are an interruption, more are a failure`() {
        var exchange = Self.fresh()
        _ = exchange.answered(Self.head(200, length: 10))
        _ = exchange.received(9)
        var other = exchange
        #expect(interrupted(exchange.bodyEnded())?.cause == .connection)
        let more = other.received(2)
        #expect(more.offset == nil && failure(more.actions) == .badAnswer)
    }

    @Test func `an answer that is none interrupts`() {
        var exchange = Self.fresh()
        #expect(interrupted(exchange.bodyEnded())?.cause == .connection)
    }

    @Test(arguments: [["Content-Encoding": "gzip"], ["content-encoding": "identity, br"]])
    func `a compressed body is the object, but for an app`(fields: [String: String]) throws {
        let fields = fields.map { HTTPField($0.key, $0.value) }
        let head = Exchange.Head(status: 200, fields: fields, length: 10)
        var exchange = Self.fresh()
        let answer = try #require(told(exchange.answered(head)))
        #expect(answer.validator == nil && answer.total == 10)
        _ = exchange.received(10)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 10))])
        var app = Self.fresh(.deliver)
        #expect(failure(app.answered(head)) == .badAnswer)
        var plain = Self.fresh(.deliver)
        #expect(told(plain.answered(Self.head(200, ["Content-Encoding": "identity"]))) != nil)
    }

    /// `Last-Modified` is that of the object in every coding.
    @Test func `a compressed body goes on only under a tag, and in the same coding`() throws {
        let gzip: KeyValuePairs<String, String> = [
            "ETag": Self.tag, "Content-Encoding": " GZIP ,identity",
        ]
        var exchange = Self.fresh()
        let answer = try #require(told(exchange.answered(Self.head(200, gzip, length: 100))))
        let validator = Validator.encodedTag(Self.tag, coding: "gzip")
        #expect(answer.validator == validator)
        let long = String(repeating: "a", count: 65)
        let others: [KeyValuePairs<String, String>] = [
            ["ETag": "W/\"one\"", "Content-Encoding": "gzip"],
            ["ETag": Self.tag, "Content-Encoding": long],
            [
                "Last-Modified": "Sun, 01 Mar 2026 12:00:00 GMT",
                "Date": "Sun, 01 Mar 2026 12:01:00 GMT", "Content-Encoding": "gzip",
            ],
        ]
        for other in others {
            var exchange = Self.fresh()
            let answer = try #require(told(exchange.answered(Self.head(200, other))))
            #expect(answer.validator == nil)
        }
        let point = ResumePoint(offset: 40, validator: validator, total: 100)
        var same = Self.resumed(point)
        let more: KeyValuePairs<String, String> = ["Content-Encoding": "gzip"]
        let rest = try #require(told(same.answered(Self.part("bytes 40-99/100", more: more))))
        #expect(rest.offset == 40 && rest.validator == validator && !rest.startsAnew)
        for unfit in [
            Self.part("bytes 40-99/100"),
            Self.part("bytes 40-99/100", more: ["Content-Encoding": "br"]),
            Self.part("bytes 40-99/100", "\"two\"", more: more),
        ] {
            var exchange = Self.resumed(point)
            #expect(told(exchange.answered(unfit))?.startsAnew == true)
        }
    }

    @Test func `a limit of size holds for what is said and for what is sent`() {
        var order = ExchangeOrder(url: "http://a.example/file", sizeLimit: 50)
        var said = Self.begun(order)
        #expect(failure(said.answered(Self.head(200, length: 51))) == .tooLarge)
        var sent = Self.begun(order)
        _ = sent.answered(Self.head(200))
        #expect(sent.received(50).offset == 0)
        #expect(failure(sent.received(1).actions) == .tooLarge)
        order.resume = Self.point
        var part = Self.begun(order)
        #expect(failure(part.answered(Self.part("bytes 40-99/100"))) == .tooLarge)
    }

    // MARK: Validators

    @Test(
        arguments: [
            ("W/\"a\"", nil, nil, nil), ("a", nil, nil, nil), ("\"a\"b\"", nil, nil, nil),
            ("\"a\"", nil, nil, .entityTag("\"a\"")),
            ("\"\"", nil, nil, .entityTag("\"\"")),
            // A weak tag says that the object changes unnoticed, whatever its date is.
            ("W/\"a\"", "Sun, 01 Mar 2026 12:00:00 GMT", "Mon, 02 Mar 2026 12:00:00 GMT", nil),
            (
                nil, "Sun, 01 Mar 2026 12:00:00 GMT", "Sun, 01 Mar 2026 12:01:00 GMT",
                .lastModified("Sun, 01 Mar 2026 12:00:00 GMT")
            ),
            (nil, "Sun, 01 Mar 2026 12:00:00 GMT", "Sun, 01 Mar 2026 12:00:59 GMT", nil),
            (nil, "Sun, 01 Mar 2026 12:00:00 GMT", nil, nil),
            (nil, "yesterday", "Sun, 01 Mar 2026 12:01:00 GMT", nil),
            ("\"\(String(repeating: "a", count: 1100))\"", nil, nil, nil),
        ] as [(String?, String?, String?, Validator?)]
    )
    func `only a strong validator counts`(
        tag: String?,
        modified: String?,
        date: String?,
        expected: Validator?
    ) throws {
        var head = Self.head(200, length: 10)
        for (name, value) in [("ETag", tag), ("Last-Modified", modified), ("Date", date)] {
            if let value { head.fields.append(HTTPField(name, value)) }
        }
        var exchange = Self.fresh()
        let answer = try #require(told(exchange.answered(head)))
        #expect(answer.validator == expected)
    }

    // MARK: Parts

    @Test func `the rest of the same version is appended`() throws {
        var exchange = Self.resumed()
        let actions = exchange.answered(Self.part("bytes 40-99/100", length: 60))
        let answer = try #require(told(actions))
        #expect(actions == [.answered(answer)])
        #expect(answer.offset == 40 && answer.total == 100 && !answer.startsAnew)
        #expect(exchange.received(60).offset == 40)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 100))])
    }

    /// Each could be bytes of another version, or of another place.
    private static let unfit = [
        part("bytes 41-99/100"), part("bytes 0-99/100"), part("bytes 40-100/101"),
        part("bytes 40-99/100", "\"two\""), part("bytes 40-99/100", "W/\"one\""),
        part("bytes 40-99/100", nil), part("bytes */100"), part("bytes 40-/100"),
        part("bytes 40-39/100"), part("bytes 40-100/100"), part("items 40-99/100"),
        part("bytes 40-99/100", length: 59), part("bytes 40-99"),
        part("bytes 40-99/100", more: ["Content-Encoding": "gzip"]),
        head(206, ["Content-Type": "multipart/byteranges", "ETag": tag]),
        head(412), head(416), head(416, ["Content-Range": "bytes */40"]),
        head(416, ["Content-Range": "bytes */40", "ETag": tag]),
        head(416, ["Content-Range": "bytes */100", "ETag": tag]),
    ]

    @Test(arguments: unfit.indices) func `else all is asked for anew`(index: Int) throws {
        var exchange = Self.resumed()
        let actions = exchange.answered(Self.unfit[index])
        let answer = try #require(told(actions))
        #expect(answer.startsAnew && answer.validator == nil)
        #expect(actions == [.giveUp(0), .answered(answer)])
        #expect(exchange.isWaiting && exchange.received == 0)
        #expect(exchange.received(5).offset == nil)
        #expect(exchange.proceed() == [.truncate, .request])
        #expect(exchange.fields == [HTTPField("Accept-Encoding", "identity")])
        let whole = exchange.answered(Self.head(200, ["ETag": "\"two\""], length: 10))
        #expect(whole.first == .truncate)
        _ = exchange.received(10)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 10))])
    }

    @Test func `the whole object waits until the part of the old one is forgotten`() throws {
        var exchange = Self.resumed()
        let actions = exchange.answered(Self.head(200, ["ETag": "\"two\""], length: 10))
        let answer = try #require(told(actions))
        #expect(actions == [.answered(answer)])
        #expect(answer.startsAnew && answer.offset == 0)
        #expect(answer.validator == .entityTag("\"two\""))
        // Nothing of what is there counts for the new version.
        #expect(exchange.isWaiting && exchange.received == 0)
        #expect(exchange.proceed() == [.truncate])
        #expect(exchange.received(10).offset == 0)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 10))])
    }

    @Test func `without a length of the whole nobody knows whether a part is all of the rest`() {
        let point = ResumePoint(offset: 40, validator: .entityTag(Self.tag), total: nil)
        var exchange = Self.resumed(point)
        #expect(told(exchange.answered(Self.part("bytes 40-49/*")))?.startsAnew == true)
        var other = Self.resumed(point)
        #expect(told(other.answered(Self.part("bytes 40-49/50")))?.total == 50)
        // Said before.
        var known = Self.resumed()
        #expect(told(known.answered(Self.part("bytes 40-99/*")))?.total == 100)
    }

    @Test func `a shorter part is taken, and the rest asked for`() {
        var exchange = Self.resumed()
        _ = exchange.answered(Self.part("bytes 40-59/100"))
        _ = exchange.received(20)
        #expect(exchange.bodyEnded() == [.request])
        #expect(exchange.fields.value(of: "Range") == "bytes=60-")
        #expect(exchange.fields.value(of: "If-Range") == Self.tag)
        #expect(exchange.answered(Self.part("bytes 60-99/100")) == [])
        #expect(exchange.received(40).offset == 60)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 100))])
    }

    @Test func `a version that changes between two parts is no part of the file`() {
        var exchange = Self.resumed()
        _ = exchange.answered(Self.part("bytes 40-59/100"))
        _ = exchange.received(20)
        _ = exchange.bodyEnded()
        let actions = exchange.answered(Self.part("bytes 60-99/100", "\"two\""))
        #expect(told(actions)?.startsAnew == true)
        #expect(exchange.proceed() == [.truncate, .request])
    }

    @Test(arguments: [(1, 16), (70_000, 1000)])
    func `parts of some size may be many, tiny ones not`(size: Int64, most: Int) {
        let total: Int64 = 70_000_000
        let point = ResumePoint(offset: 1, validator: .entityTag(Self.tag), total: total)
        var exchange = Self.resumed(point)
        var (offset, count) = (Int64(1), 0)
        while !exchange.isEnded {
            count += 1
            let last = min(offset + size, total) - 1
            _ = exchange.answered(Self.part("bytes \(offset)-\(last)/\(total)"))
            _ = exchange.received(Int(last + 1 - offset))
            offset = last + 1
            let actions = exchange.bodyEnded()
            if offset == total { #expect(end(actions) == .complete(size: total)) }
        }
        #expect(count == most)
    }

    @Test func `a part that nobody asked for is refused`() {
        var exchange = Self.fresh()
        #expect(failure(exchange.answered(Self.part("bytes 0-9/10"))) == .badAnswer)
    }

    @Test func `there is nothing more than all that is there`() {
        let point = ResumePoint(offset: 40, validator: .entityTag(Self.tag), total: nil)
        let head = Self.head(416, ["Content-Range": "bytes */40", "ETag": Self.tag])
        var exchange = Self.resumed(point)
        #expect(exchange.answered(head) == [.end(.complete(size: 40))])
        for other in [
            Self.head(416, ["Content-Range": "bytes */40", "ETag": "\"two\""]),
            Self.head(416, ["Content-Range": "bytes */40"]),
            Self.head(416, ["Content-Range": "bytes */41", "ETag": Self.tag]), Self.head(416),
        ] {
            var exchange = Self.resumed(point)
            #expect(told(exchange.answered(other))?.startsAnew == true)
        }
    }

    // MARK: Errors

    @Test(arguments: [(401, "--netrc"), (407, "--proxy"), (404, "the server answered 404")])
    func `where a password is wanted, it is said how to give one`(status: Int, words: String) {
        var exchange = Self.fresh()
        guard case .failed(let failure) = end(exchange.answered(Self.head(status))) else {
            Issue.record("it has not failed")
            return
        }
        #expect(failure.reason.contains(words), "\(failure.reason)")
    }

    @Test func `a server that is busy is asked later, and one that refuses is not`() {
        let busy = [408, 425, 429, 500, 502, 503, 504, 522, 524]
        for status in 400...599 {
            var exchange = Self.fresh()
            let actions = exchange.answered(Self.head(status))
            #expect(end(actions) != nil)
            #expect(interrupted(actions)?.cause == (busy.contains(status) ? .busy : nil))
            #expect(failure(actions) == (busy.contains(status) ? nil : .status))
            switch status {
            case 500: #expect(interrupted(actions)?.reason == "the server failed (status 500)")
            case 503: #expect(interrupted(actions)?.reason == "the server is busy (status 503)")
            default: break
            }
        }
    }

    @Test func `the page of an error is the file for who asks for it`() {
        for status in [401, 404, 412, 416, 503] {
            var exchange = Self.fresh(.deliver)
            let actions = exchange.answered(Self.head(status, ["ETag": Self.tag], length: 3))
            // The page is no version of the object.
            #expect(told(actions)?.status == status && told(actions)?.validator == nil)
            _ = exchange.received(3)
            #expect(exchange.bodyEnded() == [.end(.complete(size: 3))])
        }
    }

    @Test(
        arguments: [
            ("120", nil, 120), ("0", nil, 30), ("99999999999999999999", nil, 86_400),
            ("-1", nil, nil), ("soon", nil, nil), ("", nil, nil),
            ("Sun, 01 Mar 2026 12:10:00 GMT", "Sun, 01 Mar 2026 12:00:00 GMT", 600),
            ("Sun, 01 Mar 2026 11:00:00 GMT", "Sun, 01 Mar 2026 12:00:00 GMT", 30),
            ("Sun, 01 Mar 9999 11:00:00 GMT", "Sun, 01 Mar 2026 12:00:00 GMT", 86_400),
            ("Sun, 01 Mar 2026 12:10:00 GMT", nil, nil),
        ] as [(String, String?, Int64?)]
    )
    func `a server says when to come again`(text: String, date: String?, seconds: Int64?) throws {
        var head = Self.head(503, ["Retry-After": text])
        if let date { head.fields.append(HTTPField("Date", date)) }
        var exchange = Self.fresh()
        let interruption = try #require(interrupted(exchange.answered(head)))
        #expect(interruption.retryAfter == seconds.map { .seconds($0) })
    }

    // MARK: Redirects

    private static func order(_ url: String) -> ExchangeOrder {
        ExchangeOrder(url: url, headers: [HTTPField("Authorization", "secret")])
    }

    @Test(arguments: [
        ("http://a.example/", "http://a.example/other", true),
        ("http://a.example/", "http://A.EXAMPLE:80/other", true),
        ("http://a.example/", "http://b.example/", false),
        ("http://a.example/", "http://a.example:8080/", false),
        ("http://a.example/", "https://a.example/", false),
        ("http://a.example/", "http://a.example@b.example/", false),
        ("http://a.example/", "http://a.example\\@b.example/", true),
        ("http://a.example/", "http://a.example.b.example/", false),
        ("https://[::1]:443/", "https://[::1]/", true),
    ])
    func `what is meant for one origin is told to no other`(from: String, to: String, tells: Bool) {
        var exchange = Self.begun(Self.order(from))
        #expect(exchange.redirected(to: to) == [.request])
        #expect((exchange.fields.value(of: "Authorization") == "secret") == tells)
    }

    @Test func `it is not told either when the other origin sends us back`() {
        var exchange = Self.begun(Self.order("http://a.example/"))
        _ = exchange.redirected(to: "http://b.example/")
        _ = exchange.redirected(to: "http://a.example/chosen-by-b")
        #expect(exchange.fields.value(of: "Authorization") == nil)
    }

    @Test(arguments: [
        "http://a.example/", "file:///etc/passwd", "ftp://a.example/", "", "/relative",
        "https:///nowhere", "https://a.example/" + String(repeating: "a", count: 8192),
    ])
    func `from https no redirect leads to anything else`(target: String) throws {
        var exchange = Self.begun(Self.order("https://a.example/"))
        let actions = exchange.redirected(to: target)
        #expect(failure(actions) == .badRedirect)
        guard case .failed(let failure) = end(actions) else { return }
        #expect(failure.reason.utf8.count < 400)
    }

    @Test(arguments: [
        ("", "its Location is empty or no URL"), ("ftp://a.example/", "not http or https: ftp:"),
        ("https://a.example/" + String(repeating: "a", count: 8192), "more than 8192 bytes"),
    ])
    func `it is said what is wrong with a redirect`(target: String, words: String) {
        var exchange = Self.begun(Self.order("https://a.example/"))
        guard case .failed(let failure) = end(exchange.redirected(to: target)) else {
            Issue.record("it is followed")
            return
        }
        #expect(failure.reason.contains(words), "\(failure.reason)")
    }

    @Test func `what may stand in no URL gets percent signs`() {
        var exchange = Self.begun(Self.order("http://a.example/"))
        _ = exchange.redirected(to: "http://a.example/a b/ü\t?ä")
        #expect(exchange.url == "http://a.example/a%20b/%C3%BC%09?%C3%A4")
    }

    @Test func `twenty redirects are followed`() {
        var exchange = Self.fresh()
        for number in 1...20 {
            #expect(exchange.redirected(to: "http://a.example/\(number)") == [.request])
        }
        #expect(failure(exchange.redirected(to: "http://a.example/")) == .tooManyRedirects)
    }

    @Test func `a redirected request asks for the rest as well`() {
        var exchange = Self.resumed()
        _ = exchange.redirected(to: "http://b.example/")
        #expect(exchange.fields.value(of: "Range") == "bytes=40-")
        #expect(exchange.fields.value(of: "If-Range") == Self.tag)
    }

    // MARK: Ends from outside

    @Test func `after the end nothing has a meaning`() {
        var exchange = Self.resumed()
        #expect(interrupted(exchange.stop())?.cause == .stopped)
        #expect(exchange.stop() == [] && exchange.proceed() == [] && exchange.bodyEnded() == [])
        #expect(exchange.answered(Self.head(200)) == [])
        #expect(exchange.redirected(to: "http://a.example/") == [])
        #expect(exchange.received(1).offset == nil)
        #expect(exchange.failed(.init(.timedOut)) == [])
    }
}
