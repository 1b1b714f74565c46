import ExchangeCore
import Testing
import Vocabulary

/// What an upload makes of answers, one by one.
struct UploadRuleTests {
    private static let size: Int64 = 100

    private static func order(
        _ change: (inout UploadOrder) -> Void = { _ in }
    ) -> UploadOrder {
        let source = FileIdentity(size: size, modified: 1, inode: 1)
        var order = UploadOrder(
            url: "https://a.example/dir/up?x=1",
            headers: [HTTPField("Authorization", "secret"), HTTPField("Content-Type", "a/b")],
            source: source
        )
        change(&order)
        return order
    }

    private static func begun(
        _ change: (inout UploadOrder) -> Void = { _ in }
    ) -> UploadExchange {
        var exchange = UploadExchange(order(change))
        #expect(exchange.begin() == [.request])
        return exchange
    }

    /// One that goes on with what the server has made.
    private static func resumed(
        _ offset: Int64 = 40,
        _ change: (inout UploadOrder) -> Void = { _ in }
    ) -> UploadExchange {
        begun {
            $0.resource = UploadResource(
                url: "https://a.example/made/1",
                interop: .eight,
                offset: offset
            )
            change(&$0)
        }
    }

    private static func head(
        _ status: Int,
        _ fields: KeyValuePairs<String, String> = [:]
    ) -> Exchange.Head {
        let fields = fields.map { HTTPField($0.key, $0.value) }
        return Exchange.Head(status: status, fields: fields, length: nil)
    }

    private static func informing(
        _ fields: KeyValuePairs<String, String>,
        version: String = "8"
    ) -> Exchange.Head {
        var head = head(104, fields)
        head.fields.append(HTTPField("Upload-Draft-Interop-Version", version))
        return head
    }

    private func answer(
        _ exchange: inout UploadExchange,
        _ status: Int,
        _ fields: KeyValuePairs<String, String> = [:]
    ) -> [UploadExchange.Action] {
        exchange.answered(Self.head(status, fields))
        return exchange.answerEnded()
    }

    private func end(_ actions: [UploadExchange.Action]) -> ExchangeEnd? {
        for case .end(let end) in actions { return end }
        return nil
    }

    private func failure(_ actions: [UploadExchange.Action]) -> ExchangeFailure.Code? {
        if case .failed(let failure) = end(actions) { failure.code } else { nil }
    }

    private func cause(
        _ actions: [UploadExchange.Action]
    ) -> ExchangeEnd.Interruption.Cause? {
        if case .interrupted(let interruption) = end(actions) { interruption.cause } else { nil }
    }

    // MARK: Whole files

    @Test func `the first request carries the whole file, and offers to be resumed`() {
        let request = Self.begun().request
        #expect(request.method == "PUT" && request.body == 0..<100)
        #expect(request.fields.value(of: "Upload-Complete") == "?1")
        #expect(request.fields.value(of: "Upload-Draft-Interop-Version") == "8")
        #expect(request.fields.value(of: "Upload-Length") == "100")
        #expect(request.fields.value(of: "Authorization") == "secret")
        #expect(Self.begun { $0.method = .post }.request.method == "POST")
        let six = Self.begun { $0.interop = .six }.request
        #expect(six.fields.value(of: "Upload-Draft-Interop-Version") == "6")
    }

    @Test func `an answer to all of the file is its end`() {
        var exchange = Self.begun()
        exchange.sending(100)
        let actions = answer(&exchange, 201, ["X-Own": "1"])
        #expect(end(actions) == .complete(size: 100))
        guard case .answered(let told) = actions.first else {
            Issue.record("the answer is not told")
            return
        }
        #expect(told.status == 201 && told.headers.value(of: "X-Own") == "1")
    }

    @Test func `an answer before the last byte is none`() {
        var exchange = Self.begun()
        exchange.sending(99)
        #expect(cause(answer(&exchange, 200)) == .connection)
    }

    @Test func `an answer that has come counts though its body breaks off`() {
        var exchange = Self.begun { $0.mayRepeat = false }
        exchange.sending(100)
        exchange.answered(Self.head(200))
        #expect(end(exchange.failed(.init(.connection))) == .complete(size: 100))
    }

    @Test(arguments: [(0, true), (1, false), (100, false)])
    func `what may have arrived is not sent twice unasked`(sent: Int, isSafe: Bool) {
        var exchange = Self.begun { ($0.method, $0.mayRepeat) = (.post, false) }
        if sent > 0 { exchange.sending(sent) }
        let actions = exchange.failed(.init(.connection, reason: "it broke"))
        #expect(isSafe ? cause(actions) == .connection : failure(actions) == .uncertain)
        var repeatable = Self.begun()
        if sent > 0 { repeatable.sending(sent) }
        #expect(cause(repeatable.failed(.init(.connection))) == .connection)
    }

    @Test func `an empty file may have arrived once its request has gone out`() {
        let empty = Self.begun { ($0.method, $0.mayRepeat, $0.source.size) = (.post, false, 0) }
        var unheard = empty
        #expect(cause(unheard.failed(.init(.connection))) == .connection)
        var lost = empty
        lost.goesOut()
        #expect(failure(lost.failed(.init(.connection))) == .uncertain)
        var refused = empty
        refused.goesOut()
        #expect(refused.redirected(Self.head(307), to: "https://a.example/other") == [.request])
        #expect(cause(refused.failed(.init(.connection))) == .connection)
        // Bytes tell of any other.
        var other = Self.begun { ($0.method, $0.mayRepeat) = (.post, false) }
        other.goesOut()
        #expect(cause(other.stop()) == .stopped)
    }

    @Test func `who stops what may have arrived is told so`() {
        var exchange = Self.begun { $0.mayRepeat = false }
        exchange.sending(5)
        #expect(failure(exchange.stop()) == .uncertain)
    }

    private static let statuses: [(status: Int, again: Bool, againOnce: Bool)] = [
        (400, false, false), (403, false, false), (404, false, false), (413, false, false),
        (408, true, true), (425, true, true), (429, true, true), (503, true, true),
        (500, true, false), (502, true, false), (504, true, false), (501, false, false),
    ]

    /// 500, 502 and 504 do not say that nothing was done.
    @Test(arguments: statuses.indices) func `statuses are tried again or not`(_ index: Int) {
        let (status, again, againOnce) = Self.statuses[index]
        for (mayRepeat, isTried) in [(true, again), (false, againOnce)] {
            var exchange = Self.begun { $0.mayRepeat = mayRepeat }
            exchange.sending(100)
            let actions = answer(&exchange, status)
            #expect(isTried ? cause(actions) == .busy : failure(actions) == .status, "\(status)")
        }
        var delivering = Self.begun { $0.errors = .deliver }
        delivering.sending(100)
        #expect(end(answer(&delivering, status)) == .complete(size: 100))
    }

    // MARK: Redirects

    @Test func `a redirect is followed with the whole file, and headers stay at home`() {
        var exchange = Self.begun()
        exchange.sending(30)
        let actions = exchange.redirected(Self.head(307), to: "https://b.example/")
        #expect(actions == [.request] && exchange.sent == 0)
        #expect(exchange.request.url == "https://b.example/" && exchange.request.body == 0..<100)
        #expect(exchange.request.fields.value(of: "Authorization") == nil)
        let worse = exchange.redirected(Self.head(308), to: "http://b.example/")
        #expect(failure(worse) == .badRedirect)
    }

    @Test func `POST is not sent again where its redirect means another method`() {
        var exchange = Self.begun { $0.method = .post }
        exchange.sending(100)
        let actions = exchange.redirected(Self.head(302), to: "https://a.example/")
        #expect(failure(actions) == .badRedirect)
        var seen = Self.begun { $0.method = .post }
        seen.sending(100)
        let other = seen.redirected(Self.head(303), to: "https://a.example/")
        #expect(end(other) == .complete(size: 100))
    }

    // MARK: Resources

    private static let places = [
        ("/made/1", "https://a.example/made/1"), ("made", "https://a.example/dir/made"),
        ("?y", "https://a.example/dir/up?y"), ("//b.example/1", "https://b.example/1"),
        ("https://b.example/1#x", "https://b.example/1"), ("/a b", "https://a.example/a%20b"),
        ("http://a.example/1", nil), ("ftp://a.example/1", nil), ("", nil),
    ]

    @Test(arguments: places.indices)
    func `a resource is made where the server says`(_ index: Int) {
        let (location, url) = Self.places[index]
        var exchange = Self.begun()
        let actions = exchange.informed(Self.informing(["Location": location]))
        let resource = url.map { UploadResource(url: $0, interop: .eight) }
        #expect(actions == (resource.map { [.resource($0)] } ?? []))
        exchange.sending(10)
        #expect(cause(exchange.failed(.init(.connection))) == .connection)
    }

    @Test func `an interim answer of another version is none`() {
        var exchange = Self.begun { $0.mayRepeat = false }
        let made: KeyValuePairs = ["Location": "/made/1"]
        #expect(exchange.informed(Self.informing(made, version: "6")) == [])
        #expect(exchange.informed(Self.head(104, made)) == [])
        #expect(exchange.informed(Self.head(103, made)) == [])
        exchange.sending(10)
        #expect(failure(exchange.failed(.init(.connection))) == .uncertain)
    }

    @Test func `with a resource POST is interrupted, and not lost`() {
        var exchange = Self.begun { ($0.method, $0.mayRepeat) = (.post, false) }
        _ = exchange.informed(Self.informing(["Location": "/made/1"]))
        exchange.sending(50)
        #expect(exchange.informed(Self.informing(["Upload-Offset": "30"])) == [])
        #expect(exchange.confirmed == 30)
        #expect(cause(exchange.failed(.init(.connection))) == .connection)
    }

    @Test func `it goes on with what the server has`() {
        var exchange = Self.resumed()
        let asked = exchange.request
        #expect(asked.method == "HEAD" && asked.url == "https://a.example/made/1")
        #expect(asked.body == nil && asked.fields.value(of: "Authorization") == "secret")
        #expect(asked.fields.value(of: "Upload-Draft-Interop-Version") == "8")
        let actions = answer(&exchange, 204, ["Upload-Offset": "60", "Upload-Complete": "?0"])
        #expect(actions == [.request] && exchange.sent == 60)
        let append = exchange.request
        #expect(append.method == "PATCH" && append.body == 60..<100)
        #expect(append.fields.value(of: "Upload-Offset") == "60")
        #expect(append.fields.value(of: "Upload-Complete") == "?1")
        #expect(append.fields.values(of: "Content-Type") == ["application/partial-upload"])
        exchange.sending(40)
        #expect(end(answer(&exchange, 200, ["Upload-Complete": "?1"])) == .complete(size: 100))
    }

    @Test func `headers are not told to a resource of another host`() {
        let exchange = Self.resumed { $0.resource?.url = "https://b.example/made/1" }
        #expect(exchange.request.fields.value(of: "Authorization") == nil)
    }

    @Test func `nothing is sent when the server has all and says so`() {
        var exchange = Self.resumed { $0.mayRepeat = false }
        let fields: KeyValuePairs = ["Upload-Offset": "100", "Upload-Complete": "?1"]
        #expect(end(answer(&exchange, 204, fields)) == .complete(size: 100))
        var whole = Self.resumed()
        let incomplete: KeyValuePairs = ["Upload-Offset": "100", "Upload-Complete": "?0"]
        #expect(answer(&whole, 204, incomplete) == [.request])
        #expect(whole.request.body == 100..<100)
    }

    private static let lies: [KeyValuePairs<String, String>] = [
        ["Upload-Offset": "39", "Upload-Complete": "?0"],
        ["Upload-Offset": "101", "Upload-Complete": "?0"],
        ["Upload-Offset": "-1", "Upload-Complete": "?0"],
        ["Upload-Offset": "a"], [:],
        ["Upload-Offset": "60", "Upload-Complete": "?1"],
        ["Upload-Offset": "60", "Upload-Complete": "?0", "Upload-Length": "90"],
    ]

    @Test(arguments: lies.indices) func `an offset that cannot be fails`(_ index: Int) {
        var exchange = Self.resumed()
        #expect(failure(answer(&exchange, 204, Self.lies[index])) == .badAnswer)
    }

    @Test(arguments: [404, 410, 403]) func `an upload that the server lost`(status: Int) {
        var exchange = Self.resumed()
        #expect(answer(&exchange, status) == [.resource(nil), .request])
        #expect(exchange.request.method == "PUT" && exchange.request.body == 0..<100)
        var once = Self.resumed { $0.mayRepeat = false }
        #expect(failure(answer(&once, status)) == .uncertain)
    }

    /// Several servers behind one name, of which each knows only its own uploads.
    @Test func `a server that loses it again is sent the file once more after a while only`() {
        var exchange = Self.resumed()
        _ = answer(&exchange, 404)
        _ = exchange.informed(Self.informing(["Location": "/made/2"]))
        _ = exchange.informed(Self.informing(["Upload-Offset": "1"]))
        exchange.sending(100)
        #expect(answer(&exchange, 413) == [.request] && exchange.request.method == "HEAD")
        let actions = answer(&exchange, 404)
        #expect(actions.first == .resource(nil) && cause(actions) == .busy)
    }

    @Test(arguments: [503, 500, 501, 507, 520, 599])
    func `a server that fails keeps what it has made`(status: Int) {
        var exchange = Self.resumed { $0.mayRepeat = false }
        #expect(cause(answer(&exchange, status)) == .busy)
        #expect(exchange.resource?.offset == 40)
        var appending = appending { $0.mayRepeat = false }
        appending.sending(40)
        #expect(cause(answer(&appending, status)) == .busy)
        #expect(appending.resource?.offset == 60)
    }

    @Test func `the name of older drafts says the opposite`() {
        var whole = Self.resumed()
        let has: KeyValuePairs = ["Upload-Offset": "100", "Upload-Incomplete": "?0"]
        #expect(end(answer(&whole, 204, has)) == .complete(size: 100))
        var created = Self.begun()
        created.sending(100)
        let lacks: KeyValuePairs = ["Location": "/made/1", "Upload-Incomplete": "?1"]
        #expect(answer(&created, 201, lacks).last == .request && created.request.method == "HEAD")
        var appended = appending()
        appended.sending(40)
        #expect(end(answer(&appended, 200, ["Upload-Incomplete": "?0"])) == .complete(size: 100))
    }

    // MARK: Appending

    /// That sends the rest.
    private func appending(
        _ change: (inout UploadOrder) -> Void = { _ in }
    ) -> UploadExchange {
        var exchange = Self.resumed(40, change)
        _ = answer(&exchange, 204, ["Upload-Offset": "60", "Upload-Complete": "?0"])
        return exchange
    }

    private static let part = SentPart(
        count: 50,
        sha256: Bytes([UInt8](repeating: 9, count: SentPart.digestBytes))
    )

    /// Who has changed it may have put back the time of its last change.
    @Test func `nothing is added before somebody has looked whether the file is the same`() {
        let fields: KeyValuePairs = ["Upload-Offset": "60", "Upload-Complete": "?0"]
        var exchange = Self.resumed { $0.sent = Self.part }
        #expect(exchange.request.method == "HEAD")
        #expect(answer(&exchange, 204, fields) == [.check(Self.part)])
        var changed = exchange
        #expect(failure(changed.checked(isSame: false)) == .source)
        var stopped = exchange
        #expect(cause(stopped.stop()) == .stopped)
        #expect(stopped.checked(isSame: true) == [])
        #expect(exchange.checked(isSame: true) == [.request])
        #expect(exchange.request.body == 60..<100)
        // What is sent from now on is sent by this process.
        exchange.sending(10)
        #expect(answer(&exchange, 409, ["Upload-Offset": "70"]) == [.request])
    }

    @Test func `what begins anew, or is complete, needs no look`() {
        var exchange = Self.resumed { $0.sent = Self.part }
        var complete = exchange
        let fields: KeyValuePairs = ["Upload-Offset": "100", "Upload-Complete": "?1"]
        #expect(end(answer(&complete, 204, fields)) == .complete(size: 100))
        #expect(answer(&exchange, 404) == [.resource(nil), .request])
        #expect(exchange.request.body == 0..<100)
        _ = exchange.informed(Self.informing(["Location": "/made/2"]))
        exchange.sending(100)
        #expect(answer(&exchange, 413) == [.request] && exchange.request.method == "HEAD")
        let none: KeyValuePairs = ["Upload-Offset": "0", "Upload-Complete": "?0"]
        #expect(answer(&exchange, 204, none) == [.request])
    }

    @Test func `an offset that does not match is mended`() {
        var exchange = appending()
        exchange.sending(40)
        #expect(answer(&exchange, 409, ["Upload-Offset": "70"]) == [.request])
        #expect(exchange.request.body == 70..<100)
        #expect(failure(answer(&exchange, 409, ["Upload-Offset": "65"])) == .badAnswer)
    }

    @Test func `an answer that does not say complete is looked into`() {
        var exchange = appending { $0.mayRepeat = false }
        exchange.sending(40)
        #expect(answer(&exchange, 200) == [.request] && exchange.request.method == "HEAD")
        var gone = exchange
        // It was complete, so its resource could go.
        #expect(end(answer(&gone, 404)) == .complete(size: 100))
        let fields: KeyValuePairs = ["Upload-Offset": "80", "Upload-Complete": "?0"]
        #expect(answer(&exchange, 204, fields) == [.request])
        #expect(exchange.request.body == 80..<100)
    }

    @Test func `a complete upload that the server refuses is not gone on with`() {
        var exchange = appending()
        exchange.sending(40)
        #expect(failure(answer(&exchange, 422, ["Upload-Complete": "?1"])) == .status)
        var delivering = appending { $0.errors = .deliver }
        delivering.sending(40)
        let told = end(answer(&delivering, 422, ["Upload-Complete": "?1"]))
        #expect(told == .complete(size: 100))
    }

    @Test func `a limit of the server is kept, and guessed if it does not say it`() {
        var exchange = Self.begun()
        _ = exchange.informed(
            Self.informing([
                "Location": "/made/1", "Upload-Limit": "max-size=9, max-append-size=30",
            ])
        )
        exchange.sending(100)
        #expect(answer(&exchange, 413) == [.request] && exchange.request.method == "HEAD")
        _ = answer(&exchange, 204, ["Upload-Offset": "0", "Upload-Complete": "?0"])
        #expect(exchange.request.body == 0..<30)
        #expect(exchange.request.fields.value(of: "Upload-Complete") == "?0")
        exchange.sending(30)
        #expect(answer(&exchange, 204, ["Upload-Complete": "?0"]) == [.request])
        #expect(exchange.request.body == 30..<60)
    }

    @Test func `a server that takes nothing more is left for later`() {
        var exchange = appending()
        var actions: [UploadExchange.Action] = []
        for _ in 0..<40 where end(actions) == nil {
            exchange.sending(40)
            actions = answer(&exchange, 204, ["Upload-Complete": "?0"])
            guard end(actions) == nil else { break }
            actions = answer(&exchange, 204, ["Upload-Offset": "60", "Upload-Complete": "?0"])
        }
        #expect(cause(actions) == .busy)
    }

    @Test func `a final answer may name the resource in place of an interim one`() {
        var exchange = Self.begun()
        exchange.sending(100)
        let actions = answer(
            &exchange,
            201,
            ["Upload-Complete": "?0", "Location": "/made/1"]
        )
        #expect(actions.count == 2 && exchange.request.method == "HEAD")
        var lost = Self.begun()
        lost.sending(100)
        #expect(failure(answer(&lost, 201, ["Upload-Complete": "?0"])) == .badAnswer)
    }
}
