import AppProtocol
import Foundation
import Linux
@testable import Offstage
import Synchronization
import SystemBus
import TestKit
import Testing
import Vocabulary

/// What those are told who read the events of a session, and when the daemon hears of it.
struct SessionEventTests {
    private let bench: SessionBench
    private let folder = ScratchDirectory()

    init() throws { bench = try SessionBench() }

    private func begun(_ session: URLSession) throws -> URLSessionDownloadTask {
        let url = try #require(URL(string: "http://a.example/1"))
        let task = session.downloadTask(with: url)
        task.resume()
        _ = try bench.enqueued()
        return task
    }

    private func fields(_ path: String) -> ValueMap {
        [
            "size": 9, "status": 200, "url": "http://a.example/1", "headers": .list([]),
            "file": .string(path),
        ]
    }

    /// Whatever was answered before it has been heard.
    private func roundTrip() throws { _ = try bench.app.session.call(App1.Limits()) }

    private func words(_ event: URLSession.Event?) -> String {
        switch event {
        case .resumed(_, at: let offset, of: let total)?: "resumed \(offset) of \(total)"
        case .progress(_, bytes: let bytes, of: let total)?: "progress \(bytes) of \(total)"
        case .received(_, let data)?: "answer \(String(decoding: data, as: UTF8.self))"
        case .finished(_, file: let file)?: "file \(file.path)"
        case .completed(_, let error)?: error == nil ? "ended well" : "ended badly"
        case .allDelivered?: "all"
        case .invalidated(let error)?: error == nil ? "invalid" : "refused"
        case nil: "nothing"
        }
    }

    @Test func `an end is acknowledged when the next event is asked for, and not before`()
        async throws
    {
        let session = bench.session(nil)
        let events = session.events.makeAsyncIterator()
        // A session without a delegate takes tasks by that.
        let task = try begun(session)
        let path = try folder.write("1.download", "some text")
        let reply = try bench.say(task, fields(path))
        #expect(await words(events.next()) == "file \(path)")
        #expect(await words(events.next()) == "ended well")
        #expect(task.state == .completed)
        try roundTrip()
        #expect(!reply.hasCome)
        session.finishTasksAndInvalidate()
        #expect(await words(events.next()) == "invalid")
        _ = try reply.wait().get()
    }

    @Test func `a task that is cancelled reads no more, and takes nothing`() async throws {
        let session = bench.session(nil)
        let events = session.events.makeAsyncIterator()
        let waiting = Task { await events.next() }
        waiting.cancel()
        #expect(await words(waiting.value) == "nothing")
        let reply = try bench.say(try begun(session), [:])
        #expect(await words(events.next()) == "ended well")
        #expect(!reply.hasCome)
    }

    @Test func `who leaves the loop has not taken the event, and the next reader has it`()
        async throws
    {
        let session = bench.session(nil)
        let first = session.events.makeAsyncIterator()
        let reply = try bench.say(try begun(session), [:], result: "cancelled")
        #expect(await words(first.next()) == "ended badly")
        let second = session.events.makeAsyncIterator()
        #expect(await words(second.next()) == "ended badly")
        try await expectAcknowledged(behindLast: second, of: session, reply)
        #expect(await words(second.next()) == "nothing")
    }

    /// When its reader asks for what comes behind it, and not before.
    private func expectAcknowledged(
        behindLast reader: URLSession.Events.AsyncIterator,
        of session: URLSession,
        _ reply: BenchDaemon.Reply
    ) async throws {
        try roundTrip()
        #expect(!reply.hasCome)
        session.finishTasksAndInvalidate()
        #expect(await words(reader.next()) == "invalid")
        _ = try reply.wait().get()
    }

    /// What was asked of the session, and of the daemon by it, is done.
    private func settle(_ session: URLSession) async throws {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            session.flush { done.resume() }
        }
        session.box.outgoing.sync {}
        try roundTrip()
    }

    /// Left before, the daemon would tell the end again; left again, another session of the name.
    @Test func `a session is left once, and behind the acknowledgement of the last end`()
        async throws
    {
        let session = bench.session(nil)
        let work = AcceptedWork(
            delivery: DeliveryID(1),
            kind: .sessionEvents,
            identifier: "photos",
            deadline: nil
        )
        let events = session.events.makeAsyncIterator()
        let reply = try bench.say(try begun(session), [:], result: "cancelled")
        let isAcknowledged = Inbox<Bool>()
        bench.daemon.behave(
            "LeaveSession",
            .decide { _ in
                isAcknowledged.put(reply.hasCome)
                return .answer([])
            }
        )
        #expect(await words(events.next()) == "ended badly")
        session.box.expect(SessionRun(work, bench.app.session))
        session.finishTasksAndInvalidate()
        try await settle(session)
        #expect(bench.daemon.calls(of: "LeaveSession").isEmpty && !reply.hasCome)
        #expect(await words(events.next()) == "all")
        #expect(await words(events.next()) == "invalid")
        #expect(try isAcknowledged.next())
        session.finishTasksAndInvalidate()
        try await settle(session)
        #expect(bench.daemon.calls(of: "LeaveSession").count == 1)
        #expect(await words(events.next()) == "nothing")
    }

    @Test func `a reader that another has followed gets nothing more`() async throws {
        let session = bench.session(nil)
        let first = session.events.makeAsyncIterator()
        let reply = try bench.say(try begun(session), [:], result: "cancelled")
        #expect(await words(first.next()) == "ended badly")
        let second = session.events.makeAsyncIterator()
        #expect(await words(second.next()) == "ended badly")
        #expect(await words(first.next()) == "nothing")
        try await expectAcknowledged(behindLast: second, of: session, reply)
    }

    @Test func `a delegate is told first, and both must be done`() async throws {
        let session = bench.session(bench.recorder)
        let events = session.events.makeAsyncIterator()
        let path = try folder.write("1.download", "some text")
        let reply = try bench.say(try begun(session), fields(path))
        #expect(try bench.recorder.told.next() == "file \(path)")
        #expect(try bench.recorder.told.next() == "ended well")
        #expect(await words(events.next()) == "file \(path)")
        #expect(await words(events.next()) == "ended well")
        try roundTrip()
        #expect(!reply.hasCome)
        session.finishTasksAndInvalidate()
        #expect(await words(events.next()) == "invalid")
        _ = try reply.wait().get()
        #expect(try bench.recorder.told.next() == "invalid")
    }

    @Test func `a delegate is told where a download goes on, and each time what has come`() throws {
        let task = try begun(bench.session(bench.recorder))
        for (received, resumed): (Int64, Int64?) in [(4, 4), (6, nil), (9, nil)] {
            var progress: ValueMap = [
                "task": .integer(Int64(task.taskIdentifier)), "received": .integer(received),
                "total": 9,
            ]
            if let resumed { progress["resumed-at"] = .integer(resumed) }
            _ = try bench.daemon.say("TaskProgressed", ["photos", .map(progress)])
        }
        for told in ["goes on at 4 of 9", "wrote 2, 6 of 9", "wrote 3, 9 of 9"] {
            #expect(try bench.recorder.told.next() == told)
        }
    }

    @Test func `of progress that nobody has read the newest is kept`() async throws {
        let session = bench.session(nil)
        let events = session.events.makeAsyncIterator()
        let task = try begun(session)
        for received: Int64 in [4, 6, 9] {
            let progress: Value = [
                "task": .integer(Int64(task.taskIdentifier)), "received": .integer(received),
                "total": 9,
            ]
            _ = try bench.daemon.say("TaskProgressed", ["photos", progress])
        }
        let reply = try bench.say(task, [:])
        try Wait.until("its end") { task.state == .completed }
        #expect(await words(events.next()) == "progress 9 of 9")
        #expect(await words(events.next()) == "ended well")
        session.finishTasksAndInvalidate()
        #expect(await words(events.next()) == "invalid")
        _ = try reply.wait().get()
    }

    /// Nobody has asked for them yet, and they are not lost.
    @Test func `a session without a delegate keeps its events until they are read`() async throws {
        let session = bench.session(nil)
        let known = report(7)
        let reply = try bench.daemon.say(
            "TaskEnded",
            ["photos", ["task": known, "result": "cancelled", "remaining": 0]]
        )
        try roundTrip()
        let events = session.events.makeAsyncIterator()
        #expect(await words(events.next()) == "ended badly")
        #expect(!reply.hasCome)
        session.finishTasksAndInvalidate()
        #expect(await words(events.next()) == "invalid")
        _ = try reply.wait().get()
    }

    private func report(_ number: Int) -> Value { .map(bench.report(of: number)) }
}

/// Many tasks that are resumed in one call.
struct SessionBatchTests {
    private let bench: SessionBench

    init() throws { bench = try SessionBench() }

    private func requests(_ count: Int) throws -> [URLRequest] {
        try (0..<count).map {
            URLRequest(url: try #require(URL(string: "http://a.example/\($0)")))
        }
    }

    @Test func `they go to the daemon in one call, with no others`() throws {
        let session = bench.session(bench.recorder)
        let tasks = session.downloadTasks(with: try requests(500))
        let before = session.downloadTask(with: try requests(1)[0])
        let after = session.downloadTask(with: try requests(1)[0])
        #expect(tasks.allSatisfy { $0.state == .suspended })
        // What is resumed meanwhile would go together.
        session.box.outgoing.suspend()
        before.resume()
        session.resumeAll(tasks)
        after.resume()
        session.box.outgoing.resume()
        for expected in [[before], tasks, [after]] {
            let numbers = try bench.enqueued().compactMap { $0["task"]?.integerValue }
            #expect(numbers == expected.map { Int64($0.taskIdentifier) })
        }
        #expect(bench.daemon.calls(of: "EnqueueTasks").isEmpty)
    }

    @Test func `ten thousand go in one call, whatever is usually said of them`() throws {
        bench.configuration.timeoutIntervalForRequest = 30
        bench.configuration.timeoutIntervalForResource = 86_400
        let session = bench.session(bench.recorder)
        let path = String(repeating: "photos/", count: 14)
        let tasks = session.downloadTasks(
            with: try (0..<10_000).map {
                URLRequest(url: try #require(URL(string: "http://a.example/\(path)\($0).jpg")))
            }
        )
        for task in tasks { task.countOfBytesClientExpectsToReceive = 1 << 20 }
        session.resumeAll(tasks)
        #expect(try bench.enqueued().count == tasks.count)
    }

    @Test func `more than a call takes go in several, in their order`() throws {
        let session = bench.session(bench.recorder)
        let end = String(repeating: "x", count: 2_500)
        let tasks = session.downloadTasks(
            with: try (0..<3_000).map {
                let url = URL(string: "http://a.example/\($0)/\(end)")
                return URLRequest(url: try #require(url))
            }
        )
        session.resumeAll(tasks)
        var (numbers, calls): ([Int64], Int) = ([], 0)
        while numbers.count < tasks.count {
            let sent = try bench.enqueued()
            // 3 MiB, without a word on what is not the URL.
            #expect(sent.count * end.utf8.count < Control1.mostMessageBytes)
            numbers += sent.compactMap { $0["task"]?.integerValue }
            calls += 1
        }
        #expect(numbers == tasks.map { Int64($0.taskIdentifier) })
        #expect(calls == 3)
    }

    @Test func `what is too much for the daemon after all goes in halves`() throws {
        let session = bench.session(bench.recorder)
        bench.daemon.behave(
            "EnqueueTasks",
            .decide { arguments in
                guard (arguments[1].listValue ?? []).count > 1 else { return .answer([]) }
                return .refuseAs(ErrorName.limitsExceeded, "the arguments are too large")
            }
        )
        session.resumeAll(session.downloadTasks(with: try requests(2)))
        for count in [2, 1, 1] { #expect(try bench.enqueued().count == count) }
        #expect(bench.recorder.told.isEmpty)
    }

    /// The change was faster than the call, and the daemon knew nothing of the task.
    @Test func `what is cancelled or suspended before it is sent is so with the daemon`() throws {
        let session = bench.session(bench.recorder)
        let tasks = session.downloadTasks(with: try requests(3))
        session.box.outgoing.suspend()
        session.resumeAll(tasks)
        tasks[0].values.withLock { $0.state = .canceling }
        tasks[1].values.withLock { $0.state = .suspended }
        session.box.outgoing.resume()
        let numbers = try bench.enqueued().compactMap { $0["task"]?.integerValue }
        #expect(numbers == tasks[1...].map { Int64($0.taskIdentifier) })
        let change = try bench.daemon.next("ChangeTasks")
        #expect(change[1] == "suspend")
        #expect(change[2].listValue == [.integer(Int64(tasks[1].taskIdentifier))])
        #expect(try bench.recorder.errors.next().code == .cancelled)
    }

    @Test func `those that the daemon knows go on, in one call too`() throws {
        let session = bench.session(bench.recorder)
        let tasks = session.downloadTasks(with: try requests(3))
        session.resumeAll(tasks)
        #expect(try bench.enqueued().count == 3)
        for task in tasks { task.suspend() }
        var suspended = 0
        while suspended < tasks.count {
            let change = try bench.daemon.next("ChangeTasks")
            #expect(change[1] == "suspend")
            suspended += change[2].listValue?.count ?? 0
        }
        session.resumeAll(tasks)
        let change = try bench.daemon.next("ChangeTasks")
        #expect(change[1] == "resume" && change[2].listValue?.count == 3)
        // It does nothing a second time.
        session.resumeAll(tasks)
        tasks[0].cancel()
        #expect(try bench.daemon.next("ChangeTasks")[1] == "cancel")
        #expect(bench.daemon.calls(of: "EnqueueTasks").isEmpty)
    }
}
