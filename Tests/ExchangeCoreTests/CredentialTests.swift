import ExchangeCore
import Testing
import Vocabulary

/// Which server is shown what.
struct CredentialTests {
    private static func credentials() -> Credentials {
        var credentials = Credentials()
        var wide = Cookie(domain: "example.org", name: "wide", value: "1")
        wide.coversNamesBelow = true
        credentials.cookies = [
            wide, Cookie(domain: "a.example.org", path: "/files", name: "deep", value: "2"),
            Cookie(domain: "b.example.org", name: "other", value: "3"),
        ]
        credentials.logins = [
            .init(host: "a.example.org", user: "me", password: "secret"),
            .init(host: nil, user: "anyone", password: "guest"),
        ]
        credentials.certificate = .init(certificate: "C", key: "K")
        return credentials
    }

    private func exchange(_ url: String, _ headers: [HTTPField] = []) -> Exchange {
        var exchange = Exchange(
            ExchangeOrder(url: url, headers: headers, credentials: Self.credentials())
        )
        _ = exchange.begin()
        return exchange
    }

    @Test func `cookies go with the requests that they are for, deep ones first`() {
        let deep = exchange("https://a.example.org/files/1?q=/x").fields
        #expect(deep.value(of: "Cookie") == "deep=2; wide=1")
        #expect(exchange("https://a.example.org").fields.value(of: "Cookie") == "wide=1")
        #expect(exchange("https://c.net/files").fields.value(of: "Cookie") == nil)
    }

    @Test func `a password goes to its machine, and the default to any other`() {
        let own = exchange("https://a.example.org/").fields.value(of: "Authorization")
        #expect(own == "Basic bWU6c2VjcmV0")
        let other = exchange("https://c.net/").fields.value(of: "Authorization")
        #expect(other == "Basic YW55b25lOmd1ZXN0")
    }

    @Test func `what the caller says goes first`() {
        let own = [HTTPField("cookie", "mine=1"), HTTPField("authorization", "Bearer x")]
        let fields = exchange("https://a.example.org/", own).fields
        #expect(fields.values(of: "Cookie") == ["mine=1"])
        #expect(fields.values(of: "Authorization") == ["Bearer x"])
        let url = exchange("https://you:pw@a.example.org/").fields
        #expect(url.value(of: "Authorization") == nil)
    }

    @Test func `after a redirect each server sees its own, and no default or certificate`() {
        var exchange = exchange("https://a.example.org/files")
        #expect(exchange.certificate != nil)
        #expect(exchange.redirected(to: "https://b.example.org/f") == [.request])
        #expect(exchange.fields.value(of: "Cookie") == "wide=1; other=3")
        #expect(exchange.fields.value(of: "Authorization") == nil)
        #expect(exchange.certificate == nil)
        #expect(exchange.redirected(to: "https://c.net/f") == [.request])
        #expect(exchange.fields.value(of: "Cookie") == nil)
        // Back again, by the choice of a foreign server: its own password, but no certificate.
        #expect(exchange.redirected(to: "https://a.example.org/files") == [.request])
        #expect(exchange.fields.value(of: "Authorization") == "Basic bWU6c2VjcmV0")
        #expect(exchange.certificate == nil)
    }

    @Test func `an upload shows the same, and a resource elsewhere gets no certificate`() {
        let order = UploadOrder(
            url: "https://a.example.org/files",
            source: FileIdentity(size: 10, modified: 1, inode: 1),
            resource: UploadResource(url: "https://b.example.org/r", interop: .eight, offset: 5),
            credentials: Self.credentials()
        )
        var fresh = order
        fresh.resource = nil
        let first = UploadExchange(fresh)
        #expect(first.request.fields.value(of: "Cookie") == "deep=2; wide=1")
        #expect(first.request.fields.value(of: "Authorization") == "Basic bWU6c2VjcmV0")
        #expect(first.certificate != nil)
        var again = UploadExchange(order)
        _ = again.begin()
        #expect(again.request.url == "https://b.example.org/r")
        #expect(again.request.fields.value(of: "Cookie") == "wide=1; other=3")
        #expect(again.request.fields.value(of: "Authorization") == nil)
        #expect(again.certificate == nil)
    }
}
