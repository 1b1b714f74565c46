import Foundation
import Linux
@testable import Offstage
import Synchronization
import SystemBus
import TestKit
import Vocabulary

/// What the delegate of a session is told, in a few words each.
final class SessionRecorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    let told = Inbox<String>()
    let errors = Inbox<URLError>()

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        if let error = error as? URLError { errors.put(error) }
        told.put("invalid")
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        if let error = error as? URLError { errors.put(error) }
        told.put("ended \(error == nil ? "well" : "badly")")
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        told.put("sent \(bytesSent) \(totalBytesSent) of \(totalBytesExpectedToSend)")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        told.put("answer \(String(decoding: data, as: UTF8.self))")
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        told.put("file \(location.path)")
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        told.put("wrote \(bytesWritten), \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        told.put("goes on at \(fileOffset) of \(expectedTotalBytes)")
    }
}

/// A session with its recorder, and a daemon of a test's own.
final class SessionBench {
    let daemon: BenchDaemon
    let app: TestSession
    let recorder = SessionRecorder()
    let configuration = URLSessionConfiguration.background(withIdentifier: "photos")

    init() throws {
        daemon = try BenchDaemon()
        app = TestSession(daemon.socket)
        daemon.behave("JoinSession", .answer([["tasks": [], "missed": 0]]))
        _ = app.session.greet()
    }

    func session(_ delegate: (any URLSessionDelegate)?) -> URLSession {
        URLSession(configuration, delegate, nil, app.session)
    }

    /// The tasks of the next enqueue.
    func enqueued() throws -> [Value] { try daemon.next("EnqueueTasks")[1].listValue ?? [] }

    /// The daemon says that a task has ended.
    func end(_ task: URLSessionTask, _ fields: ValueMap = [:], result: String = "finished") throws {
        _ = try say(task, fields, result: result)
    }

    /// The same; the answer is the acknowledgement.
    func say(
        _ task: URLSessionTask,
        _ fields: ValueMap,
        result: String = "finished"
    ) throws -> BenchDaemon.Reply {
        var end: ValueMap = [
            "task": report(of: task), "result": .string(result), "remaining": 0,
        ]
        for (key, value) in fields.map({ ($0.key, $0.value) }) { end[key] = value }
        return try daemon.say("TaskEnded", ["photos", .map(end)])
    }

    func report(of task: URLSessionTask) -> Value {
        var report = report(of: task.taskIdentifier)
        if task is URLSessionUploadTask { report["method"] = "PUT" }
        return .map(report)
    }

    /// Of a download.
    func report(of number: Int) -> ValueMap {
        [
            "task": .integer(Int64(number)), "url": "http://a.example/1",
            "headers": .list([]), "suspended": false, "received": 0,
        ]
    }
}
