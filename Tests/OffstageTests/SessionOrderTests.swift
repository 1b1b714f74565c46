import AppProtocol
import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// After its last word an app may be suspended: what it has asked of its sessions before is with
/// the daemon by then.
struct SessionOrderTests {
    private let bench: SessionBench
    private let folder = ScratchDirectory()

    init() throws { bench = try SessionBench() }

    private func request(_ method: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://a.example/1")))
        request.httpMethod = method
        return request
    }

    /// A refresh that the app has been given.
    private func refresh() throws -> BGTask {
        let tasks = Inbox<BGTask>()
        let isRegistered = bench.app.scheduler.register(
            forTaskWithIdentifier: "feed",
            using: nil
        ) { tasks.put($0) }
        #expect(isRegistered)
        bench.app.session.finishedLaunching()
        try bench.daemon.next("FinishedLaunching")
        try bench.daemon.deliver(7, "refresh", "feed")
        return try tasks.next()
    }

    /// Whatever was asked before it has been heard.
    private func roundTrip() throws { _ = try bench.app.session.call(App1.Limits()) }

    @Test func `a refresh is completed when what was resumed in it is with the daemon`() throws {
        let task = try refresh()
        let session = bench.session(bench.recorder)
        bench.daemon.behave("EnqueueTasks", .silence)
        session.downloadTask(with: try request()).resume()
        task.setTaskCompleted(success: true)
        #expect(try bench.enqueued().count == 1)
        try roundTrip()
        #expect(bench.daemon.calls(of: "Complete").isEmpty)
        try bench.daemon.answerTheSilent([])
        #expect(try bench.daemon.next("Complete") == [7, "succeeded"])
    }

    @Test func `without anything to ask it is completed at once`() throws {
        let task = try refresh()
        let session = bench.session(bench.recorder)
        let download = session.downloadTask(with: try request())
        download.resume()
        _ = try bench.enqueued()
        try roundTrip()
        task.setTaskCompleted(success: true)
        // Nobody is asked for anything more.
        try roundTrip()
        #expect(bench.daemon.calls(of: "Complete") == [[7, "succeeded"]])
    }

    @Test func `so it is when tasks were changed`() throws {
        let task = try refresh()
        let download = bench.session(bench.recorder).downloadTask(with: try request())
        download.resume()
        _ = try bench.enqueued()
        bench.daemon.behave("ChangeTasks", .silence)
        download.suspend()
        task.setTaskCompleted(success: false)
        try bench.daemon.next("ChangeTasks")
        try roundTrip()
        #expect(bench.daemon.calls(of: "Complete").isEmpty)
        try bench.daemon.answerTheSilent([])
        #expect(try bench.daemon.next("Complete") == [7, "unsuccessful"])
    }

    /// They go a few at a time, and the rest would be asked for when the app is thawed.
    @Test func `so it is when the last of many uploads is with the daemon`() throws {
        let task = try refresh()
        let session = bench.session(bench.recorder)
        let file = URL(fileURLWithPath: try folder.write("file", "some text"))
        bench.daemon.behave("EnqueueTasks", .silence)
        let uploads = try (0..<70).map { _ in
            session.uploadTask(with: try request("PUT"), fromFile: file)
        }
        for upload in uploads { upload.resume() }
        task.setTaskCompleted(success: true)
        var count = 0
        while count < uploads.count {
            count += try bench.enqueued().count
            try roundTrip()
            #expect(bench.daemon.calls(of: "Complete").isEmpty, "\(count) are with the daemon")
            try bench.daemon.answerTheSilent([])
        }
        #expect(try bench.daemon.next("Complete") == [7, "succeeded"])
    }

    /// No two say the same, so each has a call of its own; 8 are without an answer at a time.
    @Test func `so it is when the last of many changes is with the daemon`() throws {
        let task = try refresh()
        let session = bench.session(bench.recorder)
        let downloads = try (0..<40).map { _ in session.downloadTask(with: try request()) }
        session.resumeAll(downloads)
        _ = try bench.enqueued()
        bench.daemon.behave("ChangeTasks", .silence)
        for (number, download) in downloads.enumerated() { download.taskDescription = "\(number)" }
        task.setTaskCompleted(success: true)
        var descriptions: [String] = []
        while descriptions.count < downloads.count {
            for _ in 0..<8 {
                let change = try bench.daemon.next("ChangeTasks")
                descriptions.append(change[3]["description"]?.stringValue ?? "")
            }
            try roundTrip()
            #expect(bench.daemon.calls(of: "ChangeTasks").isEmpty)
            #expect(bench.daemon.calls(of: "Complete").isEmpty)
            try bench.daemon.answerTheSilent([])
        }
        #expect(descriptions == (0..<40).map { "\($0)" })
        #expect(try bench.daemon.next("Complete") == [7, "succeeded"])
    }

    /// Half of them is asked for anew.
    @Test func `so it is when the daemon has refused one of them`() throws {
        let task = try refresh()
        let session = bench.session(bench.recorder)
        bench.daemon.behave("EnqueueTasks", .refuse(.invalid, "a bad one"))
        let downloads = try (0..<4).map { _ in session.downloadTask(with: try request()) }
        for download in downloads { download.resume() }
        task.setTaskCompleted(success: true)
        #expect(try bench.daemon.next("Complete") == [7, "succeeded"])
        // Each alone at last, and all of that before the completion.
        let numbers = bench.daemon.calls(of: "EnqueueTasks").flatMap { $0[1].listValue ?? [] }
        #expect(Set(numbers.compactMap { $0["task"]?.integerValue }).count == downloads.count)
        #expect(bench.daemon.calls(of: "EnqueueTasks").contains { $0[1].listValue?.count == 1 })
    }

    /// It has died with what it was asked for: the next one is asked, and told of the end then.
    @Test func `a daemon that dies is asked again before it is told of the end`() throws {
        let task = try refresh()
        let session = bench.session(bench.recorder)
        bench.daemon.behave("EnqueueTasks", .silence)
        session.downloadTask(with: try request()).resume()
        task.setTaskCompleted(success: true)
        _ = try bench.enqueued()
        bench.daemon.forget("Hello")
        try bench.daemon.restart()
        _ = try bench.enqueued()
        let hello = try bench.daemon.next("Hello")[0]
        #expect(hello["running"] == [7] && hello["finished"]?.listValue?.isEmpty != false)
        #expect(bench.daemon.calls(of: "Complete").isEmpty)
        try bench.daemon.answerTheSilent([])
        #expect(try bench.daemon.next("Complete") == [7, "succeeded"])
    }

    @Test func `the end of a background task waits for it too`() async throws {
        let session = bench.app.session
        let application = await MainActor.run { TestApp(session).application }
        try bench.daemon.next("FinishedLaunching")
        let time = application.beginBackgroundTask(withName: "more")
        try bench.daemon.next("BeginTask")
        try roundTrip()
        bench.daemon.behave("EnqueueTasks", .silence)
        bench.session(bench.recorder).downloadTask(with: try request()).resume()
        application.endBackgroundTask(time)
        _ = try bench.enqueued()
        try roundTrip()
        #expect(bench.daemon.calls(of: "EndTask").isEmpty)
        try bench.daemon.answerTheSilent([])
        #expect(try bench.daemon.next("EndTask") == [1])
    }

    @Test func `and so does an app that has come to be in the background`() async throws {
        let session = bench.app.session
        let application = await MainActor.run { TestApp(session).application }
        try bench.daemon.next("FinishedLaunching")
        bench.daemon.behave("EnqueueTasks", .silence)
        bench.session(bench.recorder).downloadTask(with: try request()).resume()
        let left = try bench.daemon.say("EnterBackground", [[:]])
        _ = try bench.enqueued()
        try roundTrip()
        #expect(!left.hasCome)
        try bench.daemon.answerTheSilent([])
        _ = try left.wait().get()
        withExtendedLifetime(application) {}
    }
}
