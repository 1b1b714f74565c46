import AppProtocol
import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// What is asked for tasks that the daemon has: none of it is lost, however much it is.
struct SessionChangeTests {
    private let bench: SessionBench

    init() throws { bench = try SessionBench() }

    /// Tasks that the daemon has.
    private func begun(_ session: URLSession, _ count: Int) throws -> [URLSessionDownloadTask] {
        let url = try #require(URL(string: "http://a.example/1"))
        let requests = Array(repeating: URLRequest(url: url), count: count)
        let tasks = session.downloadTasks(with: requests)
        session.resumeAll(tasks)
        var known = 0
        while known < count { known += try bench.enqueued().count }
        return tasks
    }

    private func numbers(_ tasks: [URLSessionTask]) -> [Int64] {
        tasks.map { Int64($0.taskIdentifier) }
    }

    private struct Change: Equatable {
        let action: String
        let tasks: [Int64]
    }

    private func change(_ call: [Value]) -> Change {
        Change(
            action: call[1].stringValue ?? "",
            tasks: (call[2].listValue ?? []).compactMap(\.integerValue)
        )
    }

    private func nextChange() throws -> Change { change(try bench.daemon.next("ChangeTasks")) }

    /// Whatever was asked before it has been heard, and answered if anything was said to it.
    private func settle(_ session: URLSession) throws {
        session.box.outgoing.sync {}
        _ = try bench.app.session.call(App1.Limits())
    }

    @Test func `thousands that are cancelled one by one all end as cancelled`() throws {
        let session = bench.session(bench.recorder)
        let tasks = try begun(session, 5_000)
        bench.daemon.behave("ChangeTasks", .silence)
        for task in tasks { task.cancel() }
        try settle(session)
        #expect(bench.daemon.calls(of: "ChangeTasks").count <= 8, "without an answer")
        var cancelled: [Int64] = []
        var calls = 0
        while cancelled.count < tasks.count {
            let change = try nextChange()
            #expect(change.action == "cancel" && change.tasks.count <= 1_000)
            cancelled += change.tasks
            calls += 1
            try bench.daemon.answerTheSilent([])
        }
        #expect(cancelled == numbers(tasks))
        #expect(calls <= 8 + 6, "those that wait go together")
        for task in tasks { _ = try bench.say(task, [:], result: "cancelled").wait().get() }
        for _ in tasks { #expect(try bench.recorder.errors.next().code == .cancelled) }
        #expect(tasks.allSatisfy { $0.state == .completed })
    }

    @Test func `they arrive in the order in which they were made, the same ones together`() throws {
        let session = bench.session(bench.recorder)
        let tasks = try begun(session, 1_500)
        let all = numbers(tasks)
        // What is changed meanwhile would leave in more calls.
        session.box.outgoing.suspend()
        for task in tasks { task.suspend() }
        for task in tasks { task.resume() }
        for task in tasks[..<3] { task.priority = URLSessionTask.highPriority }
        tasks[3].priority = URLSessionTask.lowPriority
        for task in tasks[..<2] { task.taskDescription = "mine" }
        tasks[0].suspend()
        tasks[1].cancel()
        tasks[2].cancel(byProducingResumeData: { _ in })
        tasks[3].suspend()
        session.box.outgoing.resume()
        let expected = [
            Change(action: "suspend", tasks: Array(all[..<1_000])),
            Change(action: "suspend", tasks: Array(all[1_000...])),
            Change(action: "resume", tasks: Array(all[..<1_000])),
            Change(action: "resume", tasks: Array(all[1_000...])),
            Change(action: "prioritize", tasks: Array(all[..<3])),
            Change(action: "prioritize", tasks: [all[3]]),
            Change(action: "describe", tasks: Array(all[..<2])),
            Change(action: "suspend", tasks: [all[0]]),
            Change(action: "cancel", tasks: [all[1]]),
            Change(action: "keep", tasks: [all[2]]),
            Change(action: "suspend", tasks: [all[3]]),
        ]
        for change in expected { #expect(try nextChange() == change) }
        try settle(session)
        #expect(bench.daemon.calls(of: "ChangeTasks").isEmpty)
    }

    @Test func `a session that is invalidated cancels all of its tasks together`() throws {
        let session = bench.session(bench.recorder)
        let tasks = try begun(session, 2_500)
        session.invalidateAndCancel()
        for part in [0..<1_000, 1_000..<2_000, 2_000..<2_500] {
            let change = try nextChange()
            #expect(change == Change(action: "cancel", tasks: numbers(Array(tasks[part]))))
        }
        try settle(session)
        #expect(bench.daemon.calls(of: "ChangeTasks").isEmpty)
    }

    @Test func `what a daemon dies with is asked of the next one, and the rest behind it`() throws {
        let session = bench.session(bench.recorder)
        let tasks = try begun(session, 2_000)
        bench.daemon.behave("ChangeTasks", .silence)
        for task in tasks { task.suspend() }
        try settle(session)
        bench.daemon.forget("ChangeTasks")
        bench.daemon.behave("ChangeTasks", .answer([]))
        try bench.daemon.restart()
        var suspended: [Int64] = []
        while suspended.count < tasks.count { suspended += try nextChange().tasks }
        #expect(suspended == numbers(tasks))
    }

    @Test func `what the daemon refuses is asked for again, as the tasks are to be by then`() throws
    {
        let session = bench.session(bench.recorder)
        let tasks = try begun(session, 4)
        bench.daemon.behave("ChangeTasks", .refuse(.storage, "the disk is full"))
        tasks[0].suspend()
        tasks[1].suspend()
        tasks[2].taskDescription = "first"
        tasks[3].cancel()
        var refused = 0
        while refused < tasks.count { refused += try nextChange().tasks.count }
        try settle(session)
        bench.daemon.behave("ChangeTasks", .answer([]))
        tasks[1].resume()
        tasks[2].taskDescription = "last"
        let (one, two, three) = (numbers([tasks[1]]), numbers([tasks[2]]), numbers([tasks[3]]))
        #expect(try nextChange() == Change(action: "resume", tasks: one))
        #expect(try nextChange() == Change(action: "describe", tasks: two))
        try settle(session)
        #expect(bench.daemon.calls(of: "ChangeTasks").isEmpty, "not on this connection")
        try bench.daemon.restart()
        #expect(try nextChange() == Change(action: "suspend", tasks: numbers([tasks[0]])))
        #expect(try nextChange() == Change(action: "cancel", tasks: three))
        let description = try bench.daemon.next("ChangeTasks")
        #expect(change(description) == Change(action: "describe", tasks: two))
        #expect(description[3]["description"] == "last")
        try settle(session)
        #expect(bench.daemon.calls(of: "ChangeTasks").isEmpty)
    }
}
