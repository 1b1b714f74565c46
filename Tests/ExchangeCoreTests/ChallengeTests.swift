@testable import ExchangeCore
import Testing
import Vocabulary

/// What an exchange says to servers that want to know who asks.
struct ChallengeTests {
    private static let url = "https://a.example.org/dir/index.html"

    private func challenges(_ texts: String...) -> [HTTPChallenge] {
        HTTPChallenge.all(of: texts.map { HTTPField("WWW-Authenticate", $0) })
    }

    private func exchange(
        _ challenge: HTTPChallenge,
        of server: String = url,
        reports: Bool = true
    ) -> Exchange {
        var credentials = Credentials()
        credentials.answers = [
            .init(url: server, challenge: challenge, user: "Mufasa", password: "Circle of Life")
        ]
        var order = ExchangeOrder(url: Self.url, credentials: credentials)
        order.reportsChallenges = reports
        var exchange = Exchange(order)
        _ = exchange.begin()
        return exchange
    }

    private func refusal(_ challenge: String) -> Exchange.Head {
        Exchange.Head(
            status: 401,
            fields: [HTTPField("WWW-Authenticate", challenge)],
            length: 0
        )
    }

    // MARK: Reading

    @Test func `all challenges of an answer are read, however they are written`() throws {
        let several = challenges(
            "Negotiate a87421000492aa==, Basic realm=\"a, \\\"b\\\"\" , charset=\"UTF-8\"",
            "Digest realm=x,nonce = \"n\", qop=\"auth-int, auth\", stale=TRUE",
            "Bearer"
        )
        #expect(several.map(\.scheme) == ["negotiate", "basic", "digest", "bearer"])
        #expect(several[1].realm == "a, \"b\"")
        #expect(several[1].parameters.value(of: "charset") == "UTF-8")
        let digest = try #require(several[2].digest)
        #expect(digest.nonce == "n" && digest.quality == "auth" && digest.isStale)
        #expect(several.map(\.takesLogin) == [false, true, true, false])
    }

    @Test func `what cannot be read, or answered, is left out`() {
        #expect(challenges("realm=\"a\"").isEmpty)
        #expect(challenges("Basic realm=\"a").map(\.scheme) == ["basic"])
        #expect(challenges("", ",,", "=").isEmpty)
        #expect(challenges("Digest realm=a, nonce=b, algorithm=X")[0].digest == nil)
        #expect(challenges("Digest realm=a, nonce=b, qop=auth-int")[0].digest == nil)
        #expect(challenges("Digest realm=a")[0].digest == nil)
        let long = String(repeating: "x", count: 3000)
        #expect(!challenges("Basic realm=\(long)")[0].takesLogin)
        #expect(challenges(Array(repeating: "Basic", count: 99).joined(separator: ",")).count == 16)
    }

    // MARK: Saying

    @Test func `a name and a password go to the server that asked, and to no other`() {
        let basic = HTTPChallenge(scheme: "basic")
        let said = exchange(basic).fields.value(of: "Authorization")
        #expect(said == "Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl")
        for other in ["http://a.example.org/", "https://a.example.org:444/", "https://b.org/"] {
            #expect(exchange(basic, of: other).fields.value(of: "Authorization") == nil)
        }
        // One that a redirect leads to asks for itself.
        var led = exchange(basic, of: "https://c.net/")
        _ = led.redirected(to: "https://c.net/there")
        #expect(led.fields.value(of: "Authorization") == said)
    }

    /// RFC 7616 section 3.9.1, and RFC 2617 section 3.5.
    @Test func `a digest is that of the standards' examples`() {
        let parameters = [
            HTTPField("realm", "http-auth@example.org"), HTTPField("qop", "auth, auth-int"),
            HTTPField("nonce", "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"),
            HTTPField("opaque", "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"),
        ]
        let own = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        func response(_ algorithm: String) -> String? {
            let challenge = HTTPChallenge(
                scheme: "digest",
                parameters: parameters + [HTTPField("algorithm", algorithm)]
            )
            let answer = Credentials.AnsweredChallenge(
                url: Self.url,
                challenge: challenge,
                user: "Mufasa",
                password: "Circle of Life"
            )
            let value = challenge.digest.map { digest in
                DigestRequest(
                    answer,
                    digest,
                    method: "GET",
                    target: "/dir/index.html",
                    Digests.openSSL
                ).value(number: "00000001", own: own)
            }
            return value?.firstRange(of: "response=\"").map {
                String(value?[$0.upperBound...].prefix { $0 != "\"" } ?? "")
            }
        }
        #expect(response("MD5") == "8ca523f5e9506fed4657c9700eebdbec")
        let long = "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"
        #expect(response("SHA-256") == long)
    }

    // MARK: What a refusal leads to

    @Test func `a refusal is reported to who wants to know, and else an answer like any other`() {
        var asking = exchange(HTTPChallenge(scheme: "basic"))
        guard case .end(.challenged(let answer))? = asking.answered(refusal("Basic")).first else {
            Issue.record("it is not reported")
            return
        }
        #expect(answer.status == 401 && answer.url == Self.url)
        #expect(HTTPChallenge.all(of: answer.headers).map(\.scheme) == ["basic"])
        var other = exchange(HTTPChallenge(scheme: "basic"), reports: false)
        let actions = other.answered(refusal("Basic"))
        #expect(actions.contains { if case .answered = $0 { true } else { false } })
    }

    @Test func `a nonce of before is renewed once, and one that is too old whenever it is`() {
        func challenge(_ nonce: String, _ more: String = "") -> String {
            "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\"\(more)"
        }
        let before = HTTPChallenge.all(of: refusal(challenge("1")).fields)[0]
        var exchange = exchange(before)
        #expect(exchange.fields.value(of: "Authorization")?.contains("nonce=\"1\"") == true)
        #expect(exchange.answered(refusal(challenge("2"))) == [.giveUp(0), .request])
        let renewed = exchange.fields.value(of: "Authorization") ?? ""
        #expect(renewed.contains("nonce=\"2\"") && renewed.contains("nc=00000002"))
        #expect(
            exchange.answered(refusal(challenge("3", ", stale=true"))) == [.giveUp(0), .request]
        )
        // With a nonce of its own it is the password that is wrong.
        guard case .end(.challenged)? = exchange.answered(refusal(challenge("4"))).first else {
            Issue.record("it goes on asking")
            return
        }
    }

    @Test func `a server that calls every nonce too old is not asked for ever`() {
        let challenge = "Digest realm=\"r\", nonce=\"0\", qop=\"auth\""
        var exchange = exchange(HTTPChallenge.all(of: refusal(challenge).fields)[0])
        var requests = 1
        while requests < 100 {
            let next = "Digest realm=\"r\", nonce=\"\(requests)\", qop=\"auth\", stale=true"
            guard exchange.answered(refusal(next)).contains(.request) else { break }
            requests += 1
        }
        #expect(requests <= 16 && exchange.isEnded)
    }

    // MARK: Uploads

    private func upload(_ challenge: HTTPChallenge, mayRepeat: Bool) -> UploadExchange {
        var credentials = Credentials()
        credentials.answers = [
            .init(url: Self.url, challenge: challenge, user: "Mufasa", password: "x")
        ]
        var order = UploadOrder(
            url: Self.url,
            method: .post,
            source: FileIdentity(size: 100, modified: 1, inode: 1),
            mayRepeat: mayRepeat,
            errors: .deliver,
            credentials: credentials
        )
        order.reportsChallenges = true
        var exchange = UploadExchange(order)
        _ = exchange.begin()
        return exchange
    }

    @Test func `an upload that is refused is reported, and has not arrived`() {
        var exchange = upload(HTTPChallenge(scheme: "basic"), mayRepeat: false)
        let fields = exchange.request.fields
        #expect(fields.value(of: "Authorization")?.hasPrefix("Basic ") == true)
        exchange.sending(100)
        exchange.answered(refusal("Basic realm=a"))
        guard case .end(.challenged(let answer))? = exchange.answerEnded().first else {
            Issue.record("it is not reported")
            return
        }
        #expect(answer.status == 401)
    }

    @Test func `an upload says a digest of its own method, and renews the nonce`() {
        let first = "Digest realm=\"r\", nonce=\"1\", qop=\"auth\""
        var exchange = upload(HTTPChallenge.all(of: refusal(first).fields)[0], mayRepeat: false)
        let before = exchange.request.fields.value(of: "Authorization")
        exchange.sending(100)
        exchange.answered(refusal("Digest realm=\"r\", nonce=\"2\", qop=\"auth\""))
        #expect(exchange.answerEnded() == [.request])
        #expect(exchange.sent == 0 && exchange.request.body == 0..<100)
        let after = exchange.request.fields.value(of: "Authorization")
        #expect(before != after && after?.contains("nonce=\"2\"") == true)
        #expect(after?.contains("uri=\"/dir/index.html\"") == true)
    }

    @Test func `a resource that wants to know who asks is not taken for one that is gone`() {
        var order = UploadOrder(
            url: Self.url,
            source: FileIdentity(size: 100, modified: 1, inode: 1),
            resource: UploadResource(url: Self.url + "/1", interop: .eight, offset: 40)
        )
        order.reportsChallenges = true
        var exchange = UploadExchange(order)
        _ = exchange.begin()
        exchange.answered(refusal("Basic realm=a"))
        guard case .end(.challenged)? = exchange.answerEnded().first else {
            Issue.record("it is not reported")
            return
        }
        #expect(exchange.confirmed == 40)
    }
}
