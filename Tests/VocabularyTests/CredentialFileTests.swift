import Testing
import Vocabulary

/// Files with cookies and passwords, as other programs write them.
struct CredentialFileTests {
    // MARK: Cookies

    @Test func `a file of a browser is read with its comments and hidden cookies`() throws {
        let text = """
            # Netscape HTTP Cookie File
            # https://curl.se/docs/http-cookies.html

            .Example.org\tTRUE\t/\tFALSE\t0\tsession\tabc=def
            #HttpOnly_files.example.org\tFALSE\t/a\tTRUE\t1900000000\tkey\tv w
            files.example.org\tFALSE\t/\tFALSE\t1900000000\tempty\t
            files.example.org\tFALSE\t/\tFALSE\t1900000000\tmissing

            """
        let cookies = try Cookie.parse(text)
        #expect(cookies.map(\.name) == ["session", "key", "empty", "missing"])
        #expect(cookies.map(\.value) == ["abc=def", "v w", "", ""])
        #expect(cookies.map(\.expires) == [nil, 1_900_000_000, 1_900_000_000, 1_900_000_000])
        #expect(cookies[0].domain == "example.org" && cookies[0].coversNamesBelow)
        #expect(cookies[1].isSecure && cookies[1].path == "/a" && !cookies[1].coversNamesBelow)
    }

    @Test func `lines may end as on Windows`() throws {
        let line = "a.b\tFALSE\t/\tFALSE\t0\t"
        let cookies = try Cookie.parse("\(line)n\tv\r\n\r\n\(line)m\tw\r\n")
        #expect(cookies.map(\.value) == ["v", "w"])
    }

    @Test(arguments: [
        "name=value", "a.b TRUE / FALSE 0 n v", "a.b\tyes\t/\tFALSE\t0\tn\tv",
        "a.b\tTRUE\t/\tFALSE\tsoon\tn\tv", "\tTRUE\t/\tFALSE\t0\tn\tv", "{\"cookies\": []}",
        "a.b\tTRUE\tpath\tFALSE\t0\tn\tv",
    ])
    func `what is no cookie is refused with its line`(line: String) {
        #expect(throws: CredentialError("line 2 is no cookie in Netscape's format")) {
            try Cookie.parse("# comment\n" + line)
        }
    }

    @Test func `a cookie that would be another header field is left out`() throws {
        let text = "a.b\tTRUE\t/\tFALSE\t0\tn\tv; other=1\na.b\tTRUE\t/\tFALSE\t0\tn\tv\u{7f}w\n"
        #expect(try Cookie.parse(text) == [])
    }

    @Test(arguments: [
        ("example.org", "/", true), ("EXAMPLE.org", "/", false), ("a.example.org", "/", true),
        ("badexample.org", "/", false), ("org", "/", false), ("example.org.evil.net", "/", false),
    ])
    func `a cookie goes to its domain and those below`(host: String, path: String, goes: Bool) {
        var cookie = Cookie(domain: "example.org", name: "n", value: "v")
        cookie.coversNamesBelow = true
        #expect(cookie.covers(host: host, path: path, isSecure: false) == goes)
    }

    @Test func `an address has no domain above it`() {
        var cookie = Cookie(domain: "0.0.1", name: "n", value: "v")
        cookie.coversNamesBelow = true
        #expect(!cookie.covers(host: "127.0.0.1", path: "/", isSecure: false))
    }

    @Test(arguments: [
        ("/a", true), ("/a/b", true), ("/ab", false), ("/", false), ("/A", false),
    ])
    func `a cookie goes to its path and those below`(path: String, goes: Bool) {
        let cookie = Cookie(domain: "h", path: "/a", name: "n", value: "v")
        #expect(cookie.covers(host: "h", path: path, isSecure: false) == goes)
    }

    @Test func `a secure cookie goes over https only`() {
        var cookie = Cookie(domain: "h", name: "n", value: "v")
        cookie.isSecure = true
        #expect(!cookie.covers(host: "h", path: "/", isSecure: false))
        #expect(cookie.covers(host: "h", path: "/", isSecure: true))
    }

    // MARK: Passwords

    @Test func `a netrc has machines, a default, comments, quotes and macros`() throws {
        let text = """
            # for the archive
            machine Files.example.org login me password "se \\"cret#1" # not this
            machine two.example.org
                login you
                password pass#word
                account none
            macdef init
            cd /pub
            machine in.a.macro login x password y

            default login anonymous password me@
            machine after.example.org login late password p
            """
        let logins = try LoginFile.parse(text)
        #expect(
            logins == [
                .init(host: "files.example.org", user: "me", password: "se \"cret#1"),
                .init(host: "two.example.org", user: "you", password: "pass#word"),
                .init(host: "after.example.org", user: "late", password: "p"),
                .init(host: nil, user: "anonymous", password: "me@"),
            ]
        )
    }

    @Test(arguments: [
        ("machine", "line 1 ends after machine"),
        ("machine a\nlogin", "line 2 ends after login"),
        ("machine a login\n\n", "line 1 ends after login"),
        ("machine a\nlogin \"x", "line 2 has a quotation mark without its other one"),
        ("\n<html>", "line 2 has a word that is not known"),
    ])
    func `what is no netrc is refused with its line, and without its words`(
        text: String,
        reason: String
    ) {
        #expect(throws: CredentialError(reason)) { try LoginFile.parse(text) }
    }

    // MARK: What is handed on

    @Test func `only what may be of use on the way from a host is handed on`() {
        var all = Credentials()
        for domain in ["a.example.org", "example.org", "other.net", "127.0.0.1"] {
            all.cookies.append(Cookie(domain: domain, name: "n", value: domain))
        }
        all.logins = [
            .init(host: "b.example.org", user: "u", password: "p"),
            .init(host: "other.net", user: "u", password: "p"),
            .init(host: nil, user: "u", password: "p"),
        ]
        let narrow = all.narrowed(to: "c.Example.org")
        #expect(narrow.cookies.map(\.value) == ["a.example.org", "example.org"])
        #expect(narrow.logins.map(\.host) == ["b.example.org", nil])
        #expect(all.narrowed(to: "127.0.0.1").cookies.map(\.value) == ["127.0.0.1"])
    }
}
