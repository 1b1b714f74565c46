import Foundation
@testable import Offstage
import Synchronization
import SystemBus
import TestKit
import Testing
import Vocabulary

/// What the daemon asks for tasks, and what it hears of what the delegate says.
struct SessionQuestionTests {
    private let bench: SessionBench

    init() throws { bench = try SessionBench() }

    private func begun(_ delegate: any URLSessionDelegate) throws -> URLSessionTask {
        var request = URLRequest(url: try #require(URL(string: "http://a.example/1")))
        request.setValue("old", forHTTPHeaderField: "Token")
        let task = bench.session(delegate).downloadTask(with: request)
        task.resume()
        _ = try bench.enqueued()
        return task
    }

    private func ask(
        _ task: URLSessionTask,
        _ kind: String,
        _ question: Int64 = 7,
        url: String = "http://a.example/1",
        failures: Int64 = 0,
        challenge: String = "Basic realm=\"files\""
    ) throws {
        var asked: ValueMap = [
            "question": .integer(question), "kind": .string(kind), "task": bench.report(of: task),
            "failures": .integer(failures), "remaining": 0,
        ]
        if kind == "unauthorized" {
            let field: Value = ["name": "WWW-Authenticate", "value": .string(challenge)]
            (asked["status"], asked["url"], asked["headers"]) = (401, .string(url), .list([field]))
        }
        _ = try bench.daemon.say("TaskAsked", ["photos", .map(asked)])
    }

    private func answer() throws -> (kind: String, options: Value) {
        let said = try bench.daemon.next("AnswerTask")
        #expect(said[0] == "photos")
        return (said[2].stringValue ?? "", said[3])
    }

    /// The same while other threads are left to the app. `scripts/run-tests` runs this suite in a
    /// process of its own: an async function would wait for all the tests there are.
    private func laterAnswer() async throws -> (kind: String, options: Value) {
        let daemon = bench.daemon
        let said = try await ServingThread.value { try daemon.next("AnswerTask") }
        #expect(said[0] == "photos")
        return (said[2].stringValue ?? "", said[3])
    }

    // MARK: Challenges

    @Test func `a challenge is handed to the delegate, and the credential to the daemon`() throws {
        let app = Answering { challenge in
            let space = challenge.protectionSpace
            #expect(space.host == "b.example" && space.port == 8080 && space.realm == "files")
            #expect(space.protocol == "http")
            #expect(space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
            #expect(challenge.previousFailureCount == 2)
            #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
            return (
                .useCredential,
                URLCredential(user: "me", password: "secret", persistence: .forSession)
            )
        }
        let task = try begun(app)
        try ask(task, "unauthorized", url: "http://b.example:8080/x", failures: 2)
        let (kind, options) = try answer()
        #expect(kind == "login" && options["user"] == "me" && options["password"] == "secret")
        #expect(options["scheme"] == "basic" && options["for-session"] == true)
    }

    @Test func `each disposition is what it is at Apple`() throws {
        for (disposition, kind) in [
            (URLSession.AuthChallengeDisposition.performDefaultHandling, "proceed"),
            (.useCredential, "proceed"), (.rejectProtectionSpace, "proceed"),
            (.cancelAuthenticationChallenge, "cancel"),
        ] {
            let bench = try SessionQuestionTests()
            try bench.ask(try bench.begun(Answering { _ in (disposition, nil) }), "unauthorized")
            let said = try bench.answer()
            #expect(said.kind == kind && said.options["ignored"] == nil, "\(disposition)")
        }
    }

    @Test func `the best challenge is asked first, and the next if that is rejected`() throws {
        let methods = Inbox<String>()
        let app = Answering { challenge in
            methods.put(challenge.protectionSpace.authenticationMethod)
            return (.rejectProtectionSpace, nil)
        }
        let digest = "Digest realm=\"files\", nonce=\"1\", qop=\"auth\""
        try ask(try begun(app), "unauthorized", challenge: "Basic realm=\"files\", " + digest)
        #expect(try answer().kind == "proceed")
        #expect(try methods.next() == NSURLAuthenticationMethodHTTPDigest)
        #expect(try methods.next() == NSURLAuthenticationMethodHTTPBasic)
    }

    @Test func `a challenge that no login answers is handed to nobody`() throws {
        let app = Answering { _ in
            Issue.record("it is asked")
            return (.cancelAuthenticationChallenge, nil)
        }
        try ask(try begun(app), "unauthorized", challenge: "Bearer realm=\"files\"")
        #expect(try answer().kind == "proceed")
    }

    @Test func `a delegate without methods for it says so, and the refusal is delivered`() throws {
        let task = try begun(bench.recorder)
        try ask(task, "unauthorized")
        let first = try answer()
        #expect(first.kind == "proceed" && first.options["ignored"] == true)
        try ask(task, "delayed", 8)
        let second = try answer()
        #expect(second.kind == "proceed")
    }

    @Test func `an app may answer by an async function`() async throws {
        let task = try begun(AsyncAnswering())
        try ask(task, "unauthorized")
        let (kind, options) = try await laterAnswer()
        #expect(kind == "login" && options["password"] == "later")
        #expect(options["for-session"] == nil)
    }

    @Test func `a question that is asked again is one question, and answered once`() throws {
        let asked = Inbox<URLAuthenticationChallenge>()
        let answers = Mutex<[@Sendable () -> Void]>([])
        let app = Answering(later: { challenge, answer in
            answers.withLock {
                $0.append { answer(.cancelAuthenticationChallenge, nil) }
            }
            asked.put(challenge)
        })
        let task = try begun(app)
        try ask(task, "unauthorized")
        try ask(task, "unauthorized")
        // Behind those in the delegate's queue.
        try ask(task, "unauthorized", 8)
        _ = try asked.next()
        _ = try asked.next()
        #expect(answers.withLock(\.count) == 2)
        for _ in 0..<2 { for answer in answers.withLock(\.self) { answer() } }
        #expect(try answer().kind == "cancel")
        #expect(try answer().kind == "cancel")
        #expect(bench.daemon.calls(of: "AnswerTask").isEmpty)
    }

    @Test func `an answer reaches the daemon that comes after`() throws {
        let asked = Inbox<Int>()
        let answers = Mutex<[@Sendable () -> Void]>([])
        let app = Answering(later: { _, answer in
            answers.withLock { $0.append { answer(.performDefaultHandling, nil) } }
            asked.put(1)
        })
        let task = try begun(app)
        try ask(task, "unauthorized")
        _ = try asked.next()
        bench.daemon.die()
        for answer in answers.withLock(\.self) { answer() }
        try bench.daemon.start()
        let said = try bench.daemon.next("AnswerTask")
        #expect(said[1] == 7)
    }

    // MARK: Other requests

    @Test func `fields that are too old are renewed, with those of the session`() async throws {
        bench.configuration.httpAdditionalHeaders = ["X-Session": "1"]
        let app = Renewing()
        let task = try begun(app)
        try ask(task, "unauthorized")
        let (kind, options) = try await laterAnswer()
        #expect(kind == "request" && options["url"] == "http://a.example/1")
        #expect(options["headers"] == ["Token: new", "X-Session: 1"])
        #expect(task.currentRequest?.value(forHTTPHeaderField: "Token") == "new")
        #expect(task.originalRequest?.value(forHTTPHeaderField: "Token") == "old")
        // Refused once more it is the server's word.
        try ask(task, "unauthorized", 8, failures: 1)
        #expect(try await laterAnswer().kind == "proceed")
        // And so is that of a server that was not meant.
        try ask(task, "unauthorized", 9, url: "http://other.example/1")
        #expect(try await laterAnswer().kind == "proceed")
        #expect(app.asked.withLock(\.self) == 1)
    }

    @Test func `a task whose date has come begins as the delegate says`() throws {
        for (disposition, kind) in [
            (URLSession.DelayedRequestDisposition.continueLoading, "proceed"),
            (.useNewRequest, "request"), (.cancel, "cancel"),
        ] {
            let bench = try SessionQuestionTests()
            try bench.ask(try bench.begun(Delaying(disposition)), "delayed")
            let said = try bench.answer()
            #expect(said.kind == kind, "\(disposition)")
            if disposition == .useNewRequest {
                #expect(said.options["url"] == "http://a.example/2")
            }
        }
    }

    @Test func `a kind of question that only a later daemon has holds nothing up`() throws {
        try ask(try begun(Answering { _ in (.cancelAuthenticationChallenge, nil) }), "weather")
        let (kind, options) = try answer()
        #expect(kind == "proceed" && options["ignored"] == nil)
    }

    @Test func `cookies of a kept request do not follow it to another host`() throws {
        let storage = HTTPCookieStorage()
        let cookie = HTTPCookie(properties: [
            .name: "b", .value: "2", .path: "/", .domain: "b.example",
        ])
        storage.setCookie(try #require(cookie))
        bench.configuration.httpCookieStorage = storage
        var report = bench.report(of: 5)
        report["headers"] = .list([["name": "Cookie", "value": "a=1"]])
        bench.daemon.behave(
            "JoinSession",
            .answer([["tasks": .list([.map(report)]), "missed": 0]])
        )
        let session = bench.session(Delaying(.useNewRequest, "http://b.example/2"))
        let known = Inbox<URLSessionTask>()
        session.getAllTasks { for task in $0 { known.put(task) } }
        let task = try known.next()
        #expect(task.originalRequest?.value(forHTTPHeaderField: "Cookie") == "a=1")
        try ask(task, "delayed")
        let (kind, options) = try answer()
        #expect(kind == "request" && options["url"] == "http://b.example/2")
        #expect(options["headers"] == ["Cookie: b=2"])
        #expect(task.currentRequest?.value(forHTTPHeaderField: "Cookie") == nil)
    }

    @Test func `a new request takes along that it wants no cookies, over a relaunch too`() throws {
        var report = bench.report(of: 5)
        (report["no-cookies"], report["current-url"]) = (true, "http://a.example/new")
        report["current-no-cookies"] = true
        bench.daemon.behave(
            "JoinSession",
            .answer([["tasks": .list([.map(report)]), "missed": 0]])
        )
        let session = bench.session(Delaying(.useNewRequest))
        let known = Inbox<URLSessionTask>()
        session.getAllTasks { for task in $0 { known.put(task) } }
        let task = try known.next()
        #expect(task.originalRequest?.httpShouldHandleCookies == false)
        #expect(task.currentRequest?.httpShouldHandleCookies == false)
        try ask(task, "delayed")
        #expect(try answer().options["no-cookies"] == true)
    }

    // MARK: Priorities

    @Test func `a priority goes with the task, and its change after it`() throws {
        let task = bench.session(bench.recorder)
            .downloadTask(with: try #require(URL(string: "http://a.example/1")))
        task.priority = URLSessionTask.highPriority
        task.resume()
        #expect(try bench.enqueued().first?["priority"] == 250)
        task.priority = 7
        let change = try bench.daemon.next("ChangeTasks")
        #expect(change[1] == "prioritize" && change[3]["priority"] == 500)
    }

    @Test func `a priority and a new request are known after a relaunch`() throws {
        var report = bench.report(of: 5)
        (report["priority"], report["current-url"]) = (-250, "http://a.example/new")
        report["current-headers"] = .list([["name": "Token", "value": "new"]])
        bench.daemon.behave(
            "JoinSession",
            .answer([["tasks": .list([.map(report)]), "missed": 0]])
        )
        let session = bench.session(bench.recorder)
        let known = Inbox<URLSessionTask>()
        session.getAllTasks { for task in $0 { known.put(task) } }
        let task = try known.next()
        #expect(task.priority == URLSessionTask.lowPriority)
        #expect(task.originalRequest?.url?.absoluteString == "http://a.example/1")
        #expect(task.currentRequest?.url?.absoluteString == "http://a.example/new")
        #expect(task.currentRequest?.value(forHTTPHeaderField: "Token") == "new")
    }
}

private typealias Disposition = URLSession.AuthChallengeDisposition

/// Written as for Apple's systems: without `@Sendable`.
private final class Answering: NSObject, URLSessionTaskDelegate {
    typealias Handler = @Sendable (Disposition, URLCredential?) -> Void
    private let later: @Sendable (URLAuthenticationChallenge, @escaping Handler) -> Void

    convenience init(
        _ body: @escaping @Sendable (URLAuthenticationChallenge) -> (Disposition, URLCredential?)
    ) {
        self.init(later: { challenge, answer in
            let (disposition, credential) = body(challenge)
            answer(disposition, credential)
        })
    }

    init(later: @escaping @Sendable (URLAuthenticationChallenge, @escaping Handler) -> Void) {
        self.later = later
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping Handler
    ) {
        later(challenge, completionHandler)
    }
}

private final class AsyncAnswering: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await Task.yield()
        return (
            .useCredential, URLCredential(user: "me", password: "later", persistence: .none)
        )
    }
}

private final class Renewing: NSObject, URLSessionTaskDelegate {
    let asked = Mutex(0)

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willRenewRequest request: URLRequest,
        refusedWith response: HTTPURLResponse,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        asked.withLock { $0 += 1 }
        var renewed = request
        renewed.setValue("new", forHTTPHeaderField: "Token")
        completionHandler(renewed)
    }
}

private final class Delaying: NSObject, URLSessionTaskDelegate {
    private let disposition: URLSession.DelayedRequestDisposition

    private let place: String

    init(
        _ disposition: URLSession.DelayedRequestDisposition,
        _ place: String = "http://a.example/2"
    ) {
        (self.disposition, self.place) = (disposition, place)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        var renewed = request
        renewed.url = URL(string: place)
        completionHandler(disposition, disposition == .useNewRequest ? renewed : nil)
    }
}
