import AppProtocol
import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// How a delegate is told that a download has ended.
struct SessionEndTests {
    private let bench: SessionBench
    private let folder = ScratchDirectory()

    init() throws { bench = try SessionBench() }

    private func fields(_ path: String) -> ValueMap {
        [
            "size": 9, "status": 200, "url": "http://a.example/1", "headers": .list([]),
            "file": .string(path),
        ]
    }

    private func begun() throws -> URLSessionTask {
        let task = bench.session(bench.recorder)
            .downloadTask(with: try #require(URL(string: "http://a.example/1")))
        task.resume()
        _ = try bench.enqueued()
        return task
    }

    @Test func `the file is told before the end`() throws {
        let task = try begun()
        let path = try folder.write("1.download", "some text")
        try bench.end(task, fields(path))
        #expect(try bench.recorder.told.next() == "file \(path)")
        #expect(try bench.recorder.told.next() == "ended well")
    }

    /// It took the file, and died with the daemon before that was known.
    @Test func `a file that is gone is not told again, and its end is`() throws {
        let task = try begun()
        try bench.end(task, fields(folder("1.download")))
        #expect(try bench.recorder.told.next() == "ended well")
        #expect(bench.recorder.told.isEmpty)
        #expect(task.state == .completed && task.error == nil)
    }

    @Test func `an end that comes as the session goes is told to the next one`() throws {
        let session = bench.session(bench.recorder)
        let task = session.downloadTask(with: try #require(URL(string: "http://a.example/1")))
        session.invalidateAndCancel()
        #expect(try bench.recorder.told.next() == "ended badly")
        #expect(try bench.recorder.told.next() == "invalid")
        // As for one who has looked for it just before.
        #expect(bench.app.session.add(session.box))
        let reply = try bench.say(task, [:])
        // All that has come is heard, and what is to be said to it by now.
        _ = try bench.daemon.tell("MemoryWarning", [[:]]).get()
        session.delegateQueue.waitUntilAllOperationsAreFinished()
        _ = try bench.app.session.call(App1.Limits())
        #expect(!reply.hasCome && bench.recorder.told.isEmpty)
        bench.app.session.remove(session.box)
        let next = SessionRecorder()
        _ = bench.session(next)
        let again = try bench.say(task, [:])
        #expect(try next.told.next() == "ended well")
        _ = try again.wait().get()
    }
}
