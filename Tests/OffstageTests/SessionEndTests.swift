import Foundation
import Linux
@testable import Offstage
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
}
