import ExchangeCore
import Testing
import Vocabulary

/// The rule by which a download goes on, case by case: which request follows from what is there,
/// and what of an answer goes where.
struct ExchangeTests {
    private static let tag = Validator.entityTag("\"1\"")
    private static let resume = ResumePoint(offset: 40, validator: tag, total: 100)

    private func exchange(
        _ resume: ResumePoint? = nil,
        errors: ExchangeOrder.ErrorAnswers = .fail,
        limit: Int64? = nil
    ) -> Exchange {
        var exchange = Exchange(
            ExchangeOrder(
                url: "https://a.example/x",
                headers: [HTTPField("Authorization", "secret")],
                resume: resume,
                errors: errors,
                sizeLimit: limit
            )
        )
        #expect(exchange.begin() == [.request])
        return exchange
    }

    private func head(
        _ status: Int,
        length: Int64? = nil,
        _ fields: (String, String)...
    ) -> Exchange.Head {
        let fields = fields.map { HTTPField($0.0, $0.1) }
        return Exchange.Head(status: status, fields: fields, length: length)
    }

    private func answered(_ actions: [Exchange.Action]) -> ExchangeAnswer? {
        for case .answered(let answer) in actions { return answer }
        return nil
    }

    private func end(_ actions: [Exchange.Action]) -> ExchangeEnd? {
        for case .end(let end) in actions { return end }
        return nil
    }

    private func failure(_ actions: [Exchange.Action]) -> ExchangeFailure.Code? {
        guard case .failed(let failure) = end(actions) else { return nil }
        return failure.code
    }

    private func interruption(_ actions: [Exchange.Action]) -> ExchangeEnd.Interruption? {
        guard case .interrupted(let interruption) = end(actions) else { return nil }
        return interruption
    }

    // MARK: From the start

    @Test func `a whole file is complete when its length has come`() {
        var exchange = exchange()
        let actions = exchange.answered(head(200, length: 10, ("ETag", "\"1\"")))
        #expect(actions.first == .truncate)
        #expect(answered(actions)?.validator == Self.tag)
        #expect(answered(actions)?.startsAnew == false)
        #expect(exchange.received(10).offset == 0)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 10))])
        #expect(exchange.isEnded)
    }

    @Test func `a body that ends early, or is too long, is not complete`() {
        var short = exchange()
        _ = short.answered(head(200, length: 10))
        _ = short.received(9)
        #expect(interruption(short.bodyEnded())?.cause == .connection)
        var long = exchange()
        _ = long.answered(head(200, length: 10))
        let (offset, actions) = long.received(11)
        #expect(offset == nil)
        #expect(failure(actions) == .badAnswer)
    }

    @Test func `the limit of the size holds with and without a length`() {
        var told = exchange(limit: 5)
        #expect(failure(told.answered(head(200, length: 6))) == .tooLarge)
        var untold = exchange(limit: 5)
        _ = untold.answered(head(200))
        #expect(failure(untold.received(6).actions) == .tooLarge)
    }

    @Test func `a compressed body is not the object`() {
        var exchange = exchange()
        let actions = exchange.answered(head(200, length: 10, ("Content-Encoding", "gzip")))
        #expect(failure(actions) == .badAnswer)
    }

    @Test func `a part that nobody asked for is refused`() {
        var exchange = exchange()
        let actions = exchange.answered(head(206, length: 1, ("Content-Range", "bytes 0-0/9")))
        #expect(failure(actions) == .badAnswer)
    }

    // MARK: Going on

    @Test func `what is there is gone on with under its validator`() {
        var exchange = exchange(Self.resume)
        #expect(exchange.fields.value(of: "Range") == "bytes=40-")
        #expect(exchange.fields.value(of: "If-Range") == "\"1\"")
        #expect(exchange.fields.value(of: "Accept-Encoding") == "identity")
        let part = ("Content-Range", "bytes 40-99/100")
        let actions = exchange.answered(head(206, length: 60, ("ETag", "\"1\""), part))
        #expect(answered(actions)?.offset == 40)
        #expect(!actions.contains(.truncate))
        #expect(exchange.received(60).offset == 40)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 100))])
    }

    static let unfit: [(what: String, head: Exchange.Head)] = [
        ("another first byte", part("\"1\"", "bytes 41-99/100", 59)),
        ("another total", part("\"1\"", "bytes 40-89/90", 50)),
        ("another version", part("\"2\"", "bytes 40-99/100", 60)),
        ("a weak one", part("W/\"1\"", "bytes 40-99/100", 60)),
        ("no word on the version", part(nil, "bytes 40-99/100", 60)),
        ("no range", part("\"1\"", nil, 60)),
        ("a wrong length", part("\"1\"", "bytes 40-99/100", 59)),
        ("a range that is none", part("\"1\"", "bytes 99-40/100", 60)),
        ("a failed precondition", Exchange.Head(status: 412, fields: [], length: 0)),
        ("no such range", Exchange.Head(status: 416, fields: [], length: 0)),
    ]

    private static func part(_ tag: String?, _ range: String?, _ length: Int64) -> Exchange.Head {
        var fields: [HTTPField] = []
        if let tag { fields.append(HTTPField("ETag", tag)) }
        if let range { fields.append(HTTPField("Content-Range", range)) }
        return Exchange.Head(status: 206, fields: fields, length: length)
    }

    /// Never a byte before the daemon has forgotten what was there.
    @Test(arguments: unfit)
    func `an answer that does not fit is asked for anew`(case: (what: String, head: Exchange.Head))
    {
        var exchange = exchange(Self.resume)
        let actions = exchange.answered(`case`.head)
        #expect(answered(actions)?.startsAnew == true, "\(`case`.what)")
        #expect(answered(actions)?.validator == nil)
        #expect(exchange.isWaiting)
        #expect(exchange.received(1).offset == nil)
        #expect(exchange.proceed() == [.truncate, .request])
        #expect(exchange.fields.value(of: "Range") == nil)
        let again = exchange.answered(head(200, length: 5, ("ETag", "\"2\"")))
        #expect(answered(again)?.startsAnew == false)
        #expect(exchange.received(5).offset == 0)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 5))])
    }

    @Test func `a whole answer is let in when the daemon has forgotten`() {
        var exchange = exchange(Self.resume)
        let actions = exchange.answered(head(200, length: 7, ("ETag", "\"2\"")))
        #expect(answered(actions)?.startsAnew == true)
        #expect(answered(actions)?.validator == .entityTag("\"2\""))
        #expect(!actions.contains(.truncate))
        #expect(exchange.isWaiting)
        #expect(exchange.proceed() == [.truncate])
        #expect(exchange.received(7).offset == 0)
        #expect(exchange.bodyEnded() == [.end(.complete(size: 7))])
    }

    @Test func `a file of which nothing is missing needs no request`() {
        let whole = ResumePoint(offset: 100, validator: Self.tag, total: 100)
        var exchange = Exchange(ExchangeOrder(url: "http://a.example/x", resume: whole))
        #expect(exchange.begin() == [.end(.complete(size: 100))])
    }

    @Test func `small parts are put together under one validator, and not without end`() {
        var exchange = exchange(Self.resume)
        var offset: Int64 = 40
        var requests = 0
        while true {
            let range = ("Content-Range", "bytes \(offset)-\(offset)/100")
            let actions = exchange.answered(head(206, length: 1, ("ETag", "\"1\""), range))
            #expect(end(actions) == nil)
            #expect(exchange.received(1).offset == offset)
            offset += 1
            requests += 1
            let next = exchange.bodyEnded()
            if next != [.request] {
                #expect(failure(next) == .badAnswer)
                break
            }
            #expect(exchange.fields.value(of: "Range") == "bytes=\(offset)-")
        }
        #expect(requests == 16)
    }

    /// After parts of this very exchange the daemon may know of bytes too.
    @Test func `a change between two parts waits for the daemon`() {
        var exchange = exchange()
        _ = exchange.answered(head(200, length: 100, ("ETag", "\"1\"")))
        _ = exchange.received(40)
        #expect(interruption(exchange.bodyEnded())?.cause == .connection)
        var other = self.exchange(Self.resume)
        let part = ("Content-Range", "bytes 40-49/100")
        _ = other.answered(head(206, length: 10, ("ETag", "\"1\""), part))
        _ = other.received(10)
        #expect(other.bodyEnded() == [.request])
        let changed = other.answered(head(200, length: 5, ("ETag", "\"2\"")))
        #expect(answered(changed)?.startsAnew == true)
        #expect(other.isWaiting)
    }

    // MARK: Validators

    @Test func `a date is strong when it is a minute older than the answer`() {
        let modified = ("Last-Modified", "Sun, 01 Mar 2026 12:00:00 GMT")
        var old = exchange()
        let strong = old.answered(head(200, modified, ("Date", "Sun, 01 Mar 2026 12:01:00 GMT")))
        #expect(answered(strong)?.validator == .lastModified(modified.1))
        var fresh = exchange()
        let weak = fresh.answered(head(200, modified, ("Date", "Sun, 01 Mar 2026 12:00:59 GMT")))
        #expect(answered(weak)?.validator == nil)
        var tagged = exchange()
        let tag = ("ETag", "W/\"1\"")
        let both = tagged.answered(
            head(200, tag, modified, ("Date", "Sun, 01 Mar 2026 12:01:00 GMT"))
        )
        #expect(answered(both)?.validator == nil, "a weak tag says that the date is no better")
    }

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("", nil),
        ] as [(String, Int64?)]
    )
    func `a date is read as HTTP writes it`(text: String, seconds: Int64?) {
        #expect(HTTPDate.seconds(text) == seconds)
    }

    // MARK: Errors and redirects

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 522, 524])
    func `a server that is busy may be asked again`(status: Int) {
        var exchange = exchange()
        let wait = ("Retry-After", "120")
        let busy = interruption(exchange.answered(head(status, wait)))
        #expect(busy?.cause == .busy)
        #expect(busy?.retryAfter == .seconds(120))
    }

    @Test(
        arguments: [
            ("0", 30), ("31", 31), ("99999999999999999999", 86_400), ("soon", nil), ("-5", nil),
            ("Sun, 01 Mar 2026 12:05:00 GMT", 300), ("Sun, 01 Mar 2020 12:05:00 GMT", 30),
        ] as [(String, Int64?)]
    )
    func `what a server wants to be waited for is bounded`(text: String, seconds: Int64?) {
        var exchange = exchange()
        let actions = exchange.answered(
            head(503, ("Retry-After", text), ("Date", "Sun, 01 Mar 2026 12:00:00 GMT"))
        )
        #expect(interruption(actions)?.retryAfter == seconds.map { .seconds($0) })
    }

    @Test func `other errors are final, or are delivered to whoever wants them`() {
        var failing = exchange()
        #expect(failure(failing.answered(head(404))) == .status)
        var delivering = exchange(errors: .deliver)
        let actions = delivering.answered(head(404, length: 3))
        #expect(answered(actions)?.status == 404)
        #expect(delivering.received(3).offset == 0)
        #expect(delivering.bodyEnded() == [.end(.complete(size: 3))])
    }

    @Test func `another origin is told nothing of the caller's`() {
        var exchange = exchange()
        #expect(exchange.fields.value(of: "Authorization") == "secret")
        #expect(exchange.redirected(to: "https://a.example:443/y") == [.request])
        #expect(exchange.fields.value(of: "Authorization") == "secret")
        for other in [
            "https://b.example/x", "https://a.example:8443/x", "https://a.example@b.example/",
        ] {
            #expect(exchange.redirected(to: other) == [.request])
            #expect(exchange.fields.value(of: "Authorization") == nil, "\(other)")
        }
    }

    @Test(arguments: ["http://a.example/x", "file:///etc/passwd", "ftp://a.example/", "x", ""])
    func `a redirect to less than https is refused`(target: String) {
        var exchange = exchange()
        #expect(failure(exchange.redirected(to: target)) == .badRedirect)
    }

    @Test func `twenty redirects are followed`() {
        var exchange = exchange()
        for _ in 0..<20 { #expect(exchange.redirected(to: "https://a.example/x") == [.request]) }
        #expect(failure(exchange.redirected(to: "https://a.example/x")) == .tooManyRedirects)
    }

    @Test func `nothing follows the end`() {
        var exchange = exchange()
        #expect(interruption(exchange.stop())?.cause == .stopped)
        #expect(exchange.stop() == [])
        #expect(exchange.answered(head(200, length: 1)) == [])
        #expect(exchange.received(1).offset == nil)
        #expect(exchange.bodyEnded() == [])
        #expect(exchange.proceed() == [])
    }
}
