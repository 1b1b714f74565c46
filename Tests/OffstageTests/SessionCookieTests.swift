import AppProtocol
import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Cookies of a session: which go with its tasks, and which of the answers are kept.
struct SessionCookieTests {
    private let bench: SessionBench
    private let storage = HTTPCookieStorage()
    private let folder = ScratchDirectory()

    init() throws {
        bench = try SessionBench()
        bench.configuration.httpCookieStorage = storage
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func cookie(_ name: String, path: String = "/", expires: Date? = nil) -> HTTPCookie? {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: name, .value: "1", .path: path, .domain: "a.example",
        ]
        if let expires { properties[.expires] = expires }
        return HTTPCookie(properties: properties)
    }

    /// As the daemon gets them.
    private func headers(_ request: URLRequest, in session: URLSession) throws -> Value? {
        session.downloadTask(with: request).resume()
        return try bench.enqueued()[0]["headers"]
    }

    @Test func `those that are for its URL go with a task, those with longer paths first`() throws {
        storage.setCookie(try #require(cookie("all")))
        storage.setCookie(try #require(cookie("album", path: "/album")))
        let session = bench.session(bench.recorder)
        let photo = URLRequest(url: try url("http://a.example/album/1"))
        #expect(try headers(photo, in: session) == ["Cookie: album=1; all=1"])
        let page = URLRequest(url: try url("http://a.example/albums"))
        #expect(try headers(page, in: session) == ["Cookie: all=1"])
        #expect(try headers(URLRequest(url: try url("http://b.example/")), in: session) == nil)
        // What the app has put there itself goes before.
        var own = page
        own.setValue("own=1", forHTTPHeaderField: "cookie")
        #expect(try headers(own, in: session) == ["cookie: own=1"])
        var without = page
        without.httpShouldHandleCookies = false
        #expect(try headers(without, in: session) == nil)
    }

    @Test func `a request that wants none keeps none of its answer after a relaunch`() throws {
        var without = URLRequest(url: try url("http://a.example/1"))
        without.httpShouldHandleCookies = false
        bench.session(bench.recorder).downloadTask(with: without).resume()
        #expect(try bench.enqueued()[0]["no-cookies"] == true)
        let relaunched = try SessionBench()
        relaunched.configuration.httpCookieStorage = storage
        var report = relaunched.report(of: 5)
        report["no-cookies"] = true
        relaunched.daemon.behave(
            "JoinSession",
            .answer([["tasks": .list([.map(report)]), "missed": 0]])
        )
        let known = Inbox<URLSessionTask>()
        let session = relaunched.session(relaunched.recorder)
        session.getAllTasks { for task in $0 { known.put(task) } }
        let task = try known.next()
        #expect(task.originalRequest?.httpShouldHandleCookies == false)
        let field: Value = ["name": "Set-Cookie", "value": "one=1; Path=/"]
        let place: Value = "http://a.example/1"
        try relaunched.end(
            task,
            ["size": 9, "status": 200, "url": place, "headers": .list([field])]
        )
        #expect(try relaunched.recorder.told.next() == "ended well")
        #expect(storage.cookies?.isEmpty == true)
    }

    @Test func `a daemon that does not know of this takes the task all the same`() throws {
        bench.daemon.behave(
            "EnqueueTasks",
            .decide { arguments in
                let tasks = arguments[1].listValue ?? []
                let isKnown = tasks.allSatisfy { $0["no-cookies"] == nil }
                return isKnown ? .answer([]) : .refuse(.invalid, "there is no such option")
            }
        )
        var without = URLRequest(url: try url("http://a.example/1"))
        without.httpShouldHandleCookies = false
        let task = bench.session(bench.recorder).downloadTask(with: without)
        task.resume()
        #expect(try bench.enqueued()[0]["no-cookies"] == true)
        #expect(try bench.enqueued()[0]["no-cookies"] == nil)
        #expect(task.state == .running)
    }

    @Test func `a session that does not want them sends none`() throws {
        storage.setCookie(try #require(cookie("all")))
        bench.configuration.httpShouldSetCookies = false
        let session = bench.session(bench.recorder)
        #expect(try headers(URLRequest(url: try url("http://a.example/")), in: session) == nil)
        #expect(session.configuration.httpCookieStorage === storage)
    }

    /// Which are kept of an answer.
    private func kept(
        _ policy: HTTPCookie.AcceptPolicy,
        from place: String = "http://a.example/1"
    ) throws -> [String] {
        bench.configuration.httpCookieAcceptPolicy = policy
        let task = bench.session(bench.recorder)
            .downloadTask(with: try url("http://a.example/1"))
        task.resume()
        _ = try bench.enqueued()
        let fields: [Value] = [
            ["name": "set-cookie", "value": "one=1; Path=/"],
            ["name": "Set-Cookie", "value": "two=2; Max-Age=60; HttpOnly"],
            ["name": "Set-Cookie", "value": "foreign=3; Domain=other.example"],
        ]
        try bench.end(
            task,
            ["size": 9, "status": 200, "url": .string(place), "headers": .list(fields)]
        )
        #expect(try bench.recorder.told.next() == "ended well")
        return (storage.cookies ?? []).map(\.name)
    }

    @Test func `those of the last answer are kept before its end is told`() throws {
        #expect(try kept(.onlyFromMainDocumentDomain) == ["one", "two"])
        let cookies = storage.cookies ?? []
        #expect(cookies.map(\.isHTTPOnly) == [false, true])
        #expect(cookies.map(\.isSessionOnly) == [true, false])
        let there = storage.cookies(for: try url("http://a.example/2"))
        #expect(there?.map(\.value) == ["1", "2"])
    }

    @Test func `none are kept if the policy is so`() throws { #expect(try kept(.never) == []) }

    @Test func `a host that a redirect has led to sets none, unless all may`() throws {
        #expect(try kept(.onlyFromMainDocumentDomain, from: "http://b.example/") == [])
    }

    @Test func `with the policy always it may`() throws {
        #expect(try kept(.always, from: "http://b.example/") == ["one", "two"])
    }

    @Test(
        arguments: [
            ("a=b", "a b a.example /x false"),
            ("a=b=c ; path=/y; SECURE", "a b=c a.example /y true"),
            ("a=; Domain=.EXAMPLE.org", nil),
            ("a=b; Domain=a.example", "a b .a.example /x false"),
            ("a=b; Domain=example", nil),
            ("a=b; Domain=b.a.example", nil),
            ("a=b; Path=relative", "a b a.example /x false"),
            ("=b", nil), ("a", nil), ("a=b\u{1}", nil), ("a=b\u{85}c", nil),
            ("a=b\u{2028}c", nil), ("a=b; Path=/\u{2029}", nil),
            ("__Secure-a=b", nil), ("__Secure-a=b; Secure", "__Secure-a b a.example /x true"),
            ("__Host-a=b; Secure", nil),
            ("__Host-a=b; Secure; Path=/", "__Host-a b a.example / true"),
        ] as [(String, String?)]
    )
    func `a field of a server is read as browsers do`(field: String, expected: String?) throws {
        let place = try url("https://a.example/x/y?q=/z")
        let cookie = HTTPCookie(field: field, from: place, now: 1_000)
        let words = cookie.map {
            "\($0.name) \($0.value) \($0.domain) \($0.path) \($0.isSecure)"
        }
        #expect(words == expected)
    }

    @Test func `a date, or an age before it, ends it`() throws {
        let place = try url("https://a.example/")
        func end(_ field: String) -> Int64? {
            HTTPCookie(field: field, from: place, now: 1_000)?.cookie.expires
        }
        #expect(end("a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
        #expect(end("a=b; Expires=Sun, 06-Nov-1994 08:49:37 GMT") == 784_111_777)
        #expect(end("a=b; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 GMT") == 1_060)
        #expect(end("a=b; Max-Age=soon") == nil)
        #expect(end("a=b; Expires=Thu, 01-Jan-70 00:00:01 GMT") == 1)
        #expect(end("a=b; Expires=Sunday, 06-Nov-94 08:49:37 GMT") == 784_111_777)
        #expect(end("a=b; Expires=Sun Nov  6 08:49:37 1994") == 784_111_777)
        #expect(end("a=b; Expires=Thu, 01 Jan 1601 00:00:00 GMT") == 0)
        #expect(end("a=b; Expires=Fri, 01-Jan-38 00:00:00 GMT") == 2_145_916_800)
        #expect(end("a=b; Expires=01-Jan-38") == nil)
        #expect(end("a=b; Expires=Fri, 01-Jan-38 24:00:00 GMT") == nil)
        storage.setCookie(try #require(cookie("a")))
        storage.keep(["a=; Path=/; Max-Age=0"], from: try url("http://a.example/"))
        #expect(storage.cookies?.isEmpty == true)
    }

    @Test func `a secure one is not set or sent without TLS`() throws {
        storage.keep(["a=b; Secure"], from: try url("http://a.example/"))
        #expect(storage.cookies?.isEmpty == true)
        storage.keep(["a=b; Secure"], from: try url("https://a.example/"))
        #expect(storage.cookies(for: try url("http://a.example/"))?.isEmpty == true)
        #expect(storage.cookies(for: try url("https://a.example/"))?.count == 1)
    }

    @Test func `an answer without TLS leaves a secure one as it is`() throws {
        let (open, secure) = (try url("http://a.example/"), try url("https://a.example/"))
        storage.keep(["a=b; Secure"], from: secure)
        storage.keep(["a=c", "a=; Max-Age=0", "a=d; Path=/x", "e=f"], from: open)
        #expect(storage.cookies?.map(\.pair) == ["a=b", "a=d", "e=f"])
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "a=g"], for: open)
        storage.setCookies(cookies, for: open, mainDocumentURL: nil)
        #expect(storage.cookies(for: secure)?.map(\.pair) == ["a=b", "e=f"])
        storage.keep(["a=c"], from: secure)
        #expect(storage.cookies(for: open)?.map(\.pair) == ["e=f", "a=c"])
    }

    @Test func `fields that were joined are told apart`() throws {
        let cookies = HTTPCookie.cookies(
            withResponseHeaderFields: [
                "Set-Cookie": "a=b; Expires=Sun, 06 Nov 2044 08:49:37 GMT, c=d, e=f; Max-Age=0"
            ],
            for: try url("http://a.example/")
        )
        #expect(cookies.map(\.name) == ["a", "c"])
        #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "a=b; c=d"])
    }

    @Test func `those with a date are kept over launches, for their user only`() throws {
        let file = folder("data/peer/cookies")
        let first = HTTPCookieStorage(file: file)
        let date = Date(timeIntervalSinceNow: 3_600)
        first.setCookie(try #require(cookie("dated", expires: date)))
        first.setCookie(try #require(cookie("session")))
        #expect(Files.status(file)?.permissions == 0o600)
        let second = HTTPCookieStorage(file: file)
        #expect(second.cookies?.map(\.name) == ["dated"])
        let kept = try #require(second.cookies?.first)
        #expect(kept.domain == "a.example" && kept.path == "/" && !kept.isSecure)
        second.deleteCookie(kept)
        #expect(HTTPCookieStorage(file: file).cookies?.isEmpty == true)
    }

    @Test func `what is no cookie in the file is skipped, and what is large is read`() throws {
        let file = folder("cookies")
        let line = "a.example\tFALSE\t/\tFALSE\t9999999999\t"
        let long = (0..<400).map { "\(line)long\($0)\t\(String(repeating: "x", count: 4_000))\n" }
        let broken = "\(line)broken\tx\u{2028}y\nnone\n"
        let text = "\(line)first\t1\r\n\(broken)\(long.joined())\(line)last\t1\n"
        try Files.replace(file, with: text, permissions: 0o600, synchronized: false)
        let names = HTTPCookieStorage(file: file).cookies?.map(\.name) ?? []
        #expect(names.count == 402 && names.first == "first" && names.last == "last")
    }

    @Test func `a file that cannot be read is left as it is`() throws {
        let file = folder("cookies")
        let text = String(repeating: "#", count: 16 << 20) + "\n"
        try Files.replace(file, with: text, permissions: 0o600, synchronized: false)
        let storage = HTTPCookieStorage(file: file)
        let date = Date(timeIntervalSinceNow: 3_600)
        storage.setCookie(try #require(cookie("dated", expires: date)))
        #expect(storage.cookies?.map(\.name) == ["dated"])
        #expect(Files.status(file)?.size == Int64(text.utf8.count))
    }

    @Test func `a copy of a kept request takes no cookies to another origin`() throws {
        storage.setCookie(try #require(cookie("mine")))
        var kept = URLRequest(url: try url("https://a.example/1"))
        kept.setValue("theirs=1", forHTTPHeaderField: "cookie")
        let place = try url("https://a.example/1")
        kept.keptCookies = URLRequest.KeptCookies(url: place, field: "theirs=1")
        let session = bench.session(bench.recorder)
        kept.url = try url("https://a.example:443/2")
        #expect(try headers(kept, in: session) == ["cookie: theirs=1"])
        kept.url = try url("http://b.example/1")
        #expect(try headers(kept, in: session) == nil)
        kept.url = try url("http://a.example/1")
        #expect(try headers(kept, in: session) == ["Cookie: mine=1"])
        kept.setValue("own=1", forHTTPHeaderField: "Cookie")
        #expect(try headers(kept, in: session) == ["Cookie: own=1"])
    }
}
