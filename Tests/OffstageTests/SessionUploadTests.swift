import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Uploads as an app asks for them, and what its delegate is told.
struct SessionUploadTests {
    private let bench: SessionBench
    private let folder = ScratchDirectory()

    init() throws { bench = try SessionBench() }

    private func request(_ method: String? = "PUT") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://a.example/1")))
        request.httpMethod = method
        return request
    }

    private func file(_ text: String) throws -> URL {
        URL(fileURLWithPath: try folder.write("file", text))
    }

    @Test func `the daemon is shown a file that is open until it has answered`() throws {
        bench.daemon.behave("EnqueueTasks", .silence)
        let task = bench.session(bench.recorder)
            .uploadTask(with: try request(), fromFile: try file("some text"))
        task.resume()
        let sent = try #require(try bench.enqueued().first)
        #expect(sent["method"] == "PUT" && sent["url"] == "http://a.example/1")
        let number = try #require(sent["descriptor"]?.integerValue)
        // The daemon of this test is in the process of the app.
        #expect(Files.linkTarget("/proc/self/fd/\(number)") == folder("file"))
        #expect(task.countOfBytesExpectedToSend == 9)
        try bench.daemon.answerTheSilent([])
        try Wait.until("the file is closed") {
            Files.linkTarget("/proc/self/fd/\(number)") != folder("file")
        }
    }

    @Test func `progress and the answer's body are told before the end`() throws {
        let task = bench.session(bench.recorder)
            .uploadTask(with: try request(), fromFile: try file("some text"))
        task.resume()
        _ = try bench.enqueued()
        for sent: Int64 in [4, 9] {
            let progress: Value = [
                "task": .integer(Int64(task.taskIdentifier)), "received": .integer(sent),
                "total": 9,
            ]
            _ = try bench.daemon.say("TaskProgressed", ["photos", progress])
        }
        #expect(try bench.recorder.told.next() == "sent 4 4 of 9")
        #expect(try bench.recorder.told.next() == "sent 5 9 of 9")
        try bench.end(
            task,
            [
                "size": 9, "status": 201, "url": "http://a.example/1",
                "headers": .list([
                    ["name": "content-type", "value": "text/plain"],
                    ["name": "X-odd", "value": ""],
                ]),
                "body": .bytes(Array("thanks".utf8)),
            ]
        )
        #expect(try bench.recorder.told.next() == "answer thanks")
        #expect(try bench.recorder.told.next() == "ended well")
        let response = try #require(task.response as? HTTPURLResponse)
        #expect(response.statusCode == 201)
        let names = response.allHeaderFields.keys.compactMap { $0 as? String }
        #expect(Set(names) == ["Content-Type", "X-odd"])
        #expect(task.countOfBytesSent == 9 && task.countOfBytesReceived == 6)
    }

    @Test func `progress of what has no known size says so`() throws {
        let task = bench.session(bench.recorder)
            .uploadTask(with: try request(), fromFile: try file("some text"))
        task.resume()
        _ = try bench.enqueued()
        let progress: Value = ["task": .integer(Int64(task.taskIdentifier)), "received": 4]
        _ = try bench.daemon.say("TaskProgressed", ["photos", progress])
        #expect(try bench.recorder.told.next() == "sent 4 4 of -1")
        #expect(task.countOfBytesExpectedToSend == NSURLSessionTransferSizeUnknown)
    }

    @Test func `a file that cannot be read fails its own task and no other`() throws {
        let session = bench.session(bench.recorder)
        let missing = session.uploadTask(
            with: try request(),
            fromFile: URL(fileURLWithPath: folder("missing"))
        )
        let good = session.uploadTask(with: try request(), fromFile: try file("a"))
        missing.resume()
        good.resume()
        #expect(try bench.recorder.errors.next().code == .fileDoesNotExist)
        let sent = try bench.enqueued()
        #expect(sent.map { $0["task"]?.integerValue } == [Int64(good.taskIdentifier)])
    }

    @Test(arguments: [nil, "GET", "DELETE"])
    func `a request that sends no file is refused with the rule`(method: String?) throws {
        let task = bench.session(bench.recorder)
            .uploadTask(with: try request(method), fromFile: try file("a"))
        task.resume()
        let error = try bench.recorder.errors.next()
        #expect(error.code == .unsupportedURL)
        #expect((error as NSError).localizedFailureReason?.contains("PUT, POST or PATCH") == true)
        #expect(bench.daemon.calls(of: "EnqueueTasks").isEmpty)
    }

    @Test func `many go a few at a time, so that few files are open`() throws {
        let session = bench.session(bench.recorder)
        let file = try file("a")
        bench.daemon.behave("EnqueueTasks", .silence)
        let tasks = try (0..<70).map { _ in session.uploadTask(with: try request(), fromFile: file)
        }
        for task in tasks { task.resume() }
        var numbers: [Int64] = []
        while numbers.count < tasks.count {
            let sent = try bench.enqueued()
            #expect((1...32).contains(sent.count))
            #expect(bench.daemon.calls(of: "EnqueueTasks").isEmpty, "not before the answer")
            numbers += sent.compactMap { $0["task"]?.integerValue }
            try bench.daemon.answerTheSilent([])
        }
        #expect(numbers == tasks.map { Int64($0.taskIdentifier) })
    }

    @Test func `an upload of an earlier launch is an upload again`() async throws {
        bench.daemon.behave(
            "JoinSession",
            .answer([
                [
                    "missed": 0,
                    "tasks": .list([
                        [
                            "task": 7, "url": "http://a.example/1", "method": "POST",
                            "headers": .list([
                                ["name": "X-A", "value": "b"], ["name": "X-All", "value": "c"],
                            ]),
                            "suspended": false,
                            "received": 3, "total": 9, "description": "mine",
                            "unmetered": true, "timeout": 7.5,
                        ]
                    ]),
                ]
            ])
        )
        bench.configuration.httpAdditionalHeaders = ["x-all": "c", "x-a": "another"]
        let session = bench.session(bench.recorder)
        let idle = session.downloadTask(with: try request())
        let task = try #require(await session.allTasks.first as? URLSessionUploadTask)
        let (data, uploads, downloads) = await withCheckedContinuation { done in
            session.getTasksWithCompletionHandler { done.resume(returning: ($0, $1, $2)) }
        }
        #expect(data.isEmpty && uploads == [task] && downloads == [idle])
        let tasks = await session.tasks
        #expect(tasks.0.isEmpty && tasks.1 == [task] && tasks.2 == [idle])
        #expect(task.copy() as? URLSessionTask === task)
        #expect(task.taskDescription == "mine" && task.originalRequest?.httpMethod == "POST")
        #expect(task.countOfBytesSent == 3 && task.countOfBytesExpectedToSend == 9)
        let original = try #require(task.originalRequest)
        #expect(original.allHTTPHeaderFields == ["X-A": "b"])
        #expect(original.timeoutInterval == 7.5 && !original.allowsExpensiveNetworkAccess)
        #expect(!original.allowsConstrainedNetworkAccess)
    }
}
