import AppProtocol
import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// What a background session cannot do fails with the rule, and is never asked of the daemon.
struct SessionRefusalTests {
    private let bench: SessionBench

    init() throws { bench = try SessionBench() }

    private func request(_ text: String = "http://a.example/1") throws -> URLRequest {
        URLRequest(url: try #require(URL(string: text)))
    }

    /// The task fails when it is resumed, not before, and the words say why.
    private func expect(
        _ code: URLError.Code,
        _ words: String,
        _ task: URLSessionTask
    ) throws {
        #expect(task.state == .suspended && task.error == nil)
        task.resume()
        let error = try bench.recorder.errors.next()
        #expect(error.code == code)
        let reason = (error as NSError).localizedFailureReason ?? ""
        #expect(reason.contains(words), "\(reason)")
        #expect(try bench.recorder.told.next() == "ended badly")
        #expect(task.state == .completed && (task.error as? URLError)?.code == code)
        #expect(bench.daemon.calls(of: "EnqueueTasks").isEmpty)
    }

    @Test func `data tasks`() throws {
        let session = bench.session(bench.recorder)
        let url = try #require(try request().url)
        try expect(.unsupportedURL, "data tasks", session.dataTask(with: url))
        try expect(.unsupportedURL, "data tasks", session.dataTask(with: try request()))
    }

    @Test func `completion handlers`() throws {
        let session = bench.session(bench.recorder)
        let data = session.dataTask(with: try request()) { _, _, _ in Issue.record("called") }
        try expect(.unsupportedURL, "completion handlers", data)
        let file = session.downloadTask(with: try request()) { _, _, _ in Issue.record("called") }
        try expect(.unsupportedURL, "completion handlers", file)
    }

    @Test func `uploads from memory and from a stream`() throws {
        let session = bench.session(bench.recorder)
        let memory = session.uploadTask(with: try request(), from: Data("a".utf8))
        try expect(.unsupportedURL, "from memory", memory)
        let stream = session.uploadTask(withStreamedRequest: try request())
        try expect(.unsupportedURL, "from a stream", stream)
    }

    @Test(arguments: ["ftp://a.example/1", "file:///etc/passwd", "data:,a"])
    func `other schemes`(url: String) throws {
        let task = bench.session(bench.recorder).downloadTask(with: try request(url))
        try expect(.unsupportedURL, "only http and https", task)
    }

    @Test func `downloads that are no GET`() throws {
        let session = bench.session(bench.recorder)
        var post = try request()
        post.httpMethod = "POST"
        try expect(.unsupportedURL, "is a GET", session.downloadTask(with: post))
        var body = try request()
        body.httpBody = Data()
        try expect(.unsupportedURL, "is a GET", session.downloadTask(with: body))
    }

    @Test func `what is only to be had from a cache`() throws {
        let session = bench.session(bench.recorder)
        var own = try request()
        own.cachePolicy = .returnCacheDataDontLoad
        try expect(.resourceUnavailable, "no cache", session.downloadTask(with: own))
    }

    @Test func `all of a session without a delegate`() throws {
        let task = bench.session(nil).downloadTask(with: try request())
        task.resume()
        try Wait.until("it fails") { task.state == .completed }
        let error = try #require(task.error)
        let reason = (error as NSError).localizedFailureReason ?? ""
        #expect(reason.contains("needs a delegate"))
        #expect(bench.daemon.calls(of: "EnqueueTasks").isEmpty)
    }

    @Test func `a second session with the identifier of one that lives`() throws {
        let first = bench.session(bench.recorder)
        let other = SessionRecorder()
        let second = bench.session(other)
        #expect(try other.told.next() == "invalid")
        let error = try other.errors.next()
        #expect(error.code == .backgroundSessionInUseByAnotherProcess)
        #expect(error.errorCode == -996)
        second.downloadTask(with: try request()).resume()
        // The first goes on, and when it is invalid another may come.
        let task = first.downloadTask(with: try request())
        task.resume()
        let sent = try bench.enqueued()
        #expect(sent.map { $0["task"]?.integerValue } == [Int64(task.taskIdentifier)])
        first.invalidateAndCancel()
        try bench.end(task, result: "cancelled")
        #expect(try bench.recorder.told.next() == "ended badly")
        #expect(try bench.recorder.told.next() == "invalid")
        let third = SessionRecorder()
        bench.session(third).downloadTask(with: try request()).resume()
        #expect(try bench.enqueued().count == 1)
        #expect(third.told.isEmpty)
    }

    @Test func `a task that nothing can keep for the daemon`() throws {
        bench.daemon.behave("EnqueueTasks", .silence)
        let session = bench.session(bench.recorder)
        // Each in a call of its own, and one more than are kept.
        for _ in 0...1024 { session.resumeAll([session.downloadTask(with: try request())]) }
        let error = try bench.recorder.errors.next()
        #expect(error.code == .backgroundSessionWasDisconnected)
        #expect(error.errorCode == -997)
    }

    @Test func `an identifier that is empty`() throws {
        let recorder = SessionRecorder()
        let configuration = URLSessionConfiguration.background(withIdentifier: "")
        let session = URLSession(configuration, recorder, nil, bench.app.session)
        #expect(try recorder.told.next() == "invalid")
        #expect(session.delegate == nil)
    }

    @Test func `of many tasks only the one that the daemon refuses`() throws {
        let session = bench.session(bench.recorder)
        let tasks = try (0..<5).map { _ in session.downloadTask(with: try request()) }
        let numbers = tasks.map { Int64($0.taskIdentifier) }
        bench.daemon.behave(
            "EnqueueTasks",
            .decide { arguments in
                let asked = arguments[1].listValue?.compactMap { $0["task"]?.integerValue } ?? []
                let isBad = asked.contains(numbers[3])
                return isBad ? .refuse(.invalid, "this is no HTTP header") : .answer([])
            }
        )
        for task in tasks { task.resume() }
        let error = try bench.recorder.errors.next()
        #expect((error as NSError).localizedFailureReason?.contains("no HTTP header") == true)
        try Wait.until("the others are taken") {
            let calls = bench.daemon.calls(of: "EnqueueTasks")
            let asked = Set(
                calls.flatMap { $0[1].listValue ?? [] }.compactMap { $0["task"]?.integerValue }
            )
            return asked == Set(numbers)
        }
        #expect(tasks.map(\.state) == [.running, .running, .running, .completed, .running])
    }

    @Test func `what is said of tasks while others are refused goes with them`() throws {
        let session = bench.session(bench.recorder)
        let tasks = try (0..<4).map { _ in session.downloadTask(with: try request()) }
        let numbers = tasks.map { Int64($0.taskIdentifier) }
        bench.daemon.behave(
            "EnqueueTasks",
            .decide { arguments in
                let asked = arguments[1].listValue?.compactMap { $0["task"]?.integerValue } ?? []
                if asked.count == numbers.count {
                    tasks[0].taskDescription = "said meanwhile"
                    tasks[2].priority = URLSessionTask.highPriority
                }
                let isBad = asked.contains(numbers[3])
                return isBad ? .refuse(.invalid, "this is no HTTP header") : .answer([])
            }
        )
        session.resumeAll(tasks)
        // It is tried last.
        _ = try bench.recorder.errors.next()
        let sent = bench.daemon.calls(of: "EnqueueTasks").flatMap { $0[1].listValue ?? [] }
        let last = numbers.map { number in sent.last { $0["task"]?.integerValue == number } }
        #expect(sent.count > numbers.count)
        #expect(last[0]?["description"]?.stringValue == "said meanwhile")
        #expect(last[2]?["priority"]?.integerValue == 250)
        #expect(last[1]?["description"] == nil && last[1]?["priority"] == nil)
    }
}
