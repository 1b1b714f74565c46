import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Resume data as an app gets it, keeps it and gives it back.
struct ResumeDataTests {
    private let bench: SessionBench
    private let datas = Inbox<Data?>()

    init() throws { bench = try SessionBench() }

    private func task(_ session: URLSession) throws -> URLSessionDownloadTask {
        session.downloadTask(with: try #require(URL(string: "http://a.example/1")))
    }

    @Test func `it is produced by the end of the task, and used by another`() throws {
        let session = bench.session(bench.recorder)
        let first = try task(session)
        first.resume()
        _ = try bench.enqueued()
        let datas = datas
        first.cancel(byProducingResumeData: { datas.put($0) })
        #expect(first.state == .canceling)
        #expect(try bench.daemon.next("ChangeTasks")[1] == "keep")
        #expect(datas.isEmpty)
        try bench.end(first, ["resume": "1-abc"], result: "cancelled")
        let data = try #require(try datas.next())
        let error = try bench.recorder.errors.next()
        #expect(error.code == .cancelled && error.downloadTaskResumeData == data)
        #expect(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data == data)
        let second = session.downloadTask(withResumeData: data)
        #expect(second.originalRequest?.url?.absoluteString == "http://a.example/1")
        second.resume()
        let sent = try bench.enqueued()[0]
        #expect(sent["resume"] == "1-abc" && sent["url"] == "http://a.example/1")
    }

    @Test func `there is none of a task that has ended, was never resumed, or got nothing`() throws
    {
        let session = bench.session(bench.recorder)
        let datas = datas
        let idle = try task(session)
        idle.cancel(byProducingResumeData: { datas.put($0) })
        #expect(try datas.next() == nil)
        idle.cancel(byProducingResumeData: { datas.put($0) })
        #expect(try datas.next() == nil)
        #expect(bench.daemon.calls(of: "ChangeTasks").isEmpty)
        let empty = try task(session)
        empty.resume()
        _ = try bench.enqueued()
        empty.cancel(byProducingResumeData: { datas.put($0) })
        try bench.end(empty, result: "cancelled")
        #expect(try datas.next() == nil)
    }

    @Test func `the user's closing leaves it in the error`() throws {
        let closed = try task(bench.session(bench.recorder))
        closed.resume()
        _ = try bench.enqueued()
        try bench.end(
            closed,
            ["failure": "closedByUser", "reason": "so", "resume": "2-abc"],
            result: "failed"
        )
        let error = try bench.recorder.errors.next()
        #expect(error.backgroundTaskCancelledReason == .userForceQuitApplication)
        #expect(error.downloadTaskResumeData != nil)
    }

    @Test func `other data is refused, and used data too`() throws {
        let session = bench.session(bench.recorder)
        session.downloadTask(withResumeData: Data("<plist/>".utf8)).resume()
        #expect(try bench.recorder.errors.next().code == .unsupportedURL)
        #expect(bench.daemon.calls(of: "EnqueueTasks").isEmpty)
        let data = ResumeData(token: "1-abc", url: "http://a.example/1", method: nil).data
        let used = session.downloadTask(withResumeData: data)
        used.resume()
        _ = try bench.enqueued()
        try bench.end(used, ["failure": "resumeGone", "reason": "used"], result: "failed")
        #expect(try bench.recorder.errors.next().code == .cannotOpenFile)
    }

    @Test func `that of an upload goes on with an upload, and with nothing else`() throws {
        let session = bench.session(bench.recorder)
        let folder = ScratchDirectory()
        var request = URLRequest(url: try #require(URL(string: "http://a.example/1")))
        request.httpMethod = "PUT"
        let file = URL(fileURLWithPath: try folder.write("file", "some text"))
        let first = session.uploadTask(with: request, fromFile: file)
        first.resume()
        _ = try bench.enqueued()
        let datas = datas
        first.cancel(byProducingResumeData: { datas.put($0) })
        #expect(try bench.daemon.next("ChangeTasks")[1] == "keep")
        try bench.end(first, ["resume": "3-abc"], result: "cancelled")
        let data = try #require(try datas.next())
        let error = try bench.recorder.errors.next()
        #expect(error.uploadTaskResumeData == data && error.downloadTaskResumeData == nil)
        session.downloadTask(withResumeData: data).resume()
        #expect(try bench.recorder.errors.next().code == .unsupportedURL)
        let second = session.uploadTask(withResumeData: data)
        #expect(second.originalRequest?.httpMethod == "PUT")
        second.resume()
        let sent = try bench.enqueued()[0]
        #expect(sent["resume"] == "3-abc" && sent["method"] == nil)
        let download = ResumeData(token: "1-abc", url: "http://a.example/1", method: nil)
        session.uploadTask(withResumeData: download.data).resume()
        #expect(try bench.recorder.errors.next().code == .unsupportedURL)
    }
}
