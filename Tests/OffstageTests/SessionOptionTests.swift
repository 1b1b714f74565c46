import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// What the daemon is told of tasks: when, and with which of the session's and their own wishes.
struct SessionOptionTests {
    private let bench: SessionBench

    init() throws { bench = try SessionBench() }

    private func request() throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "http://a.example/1")))
    }

    @Test func `of a task that was not resumed nobody knows`() async throws {
        let session = bench.session(bench.recorder)
        let idle = session.downloadTask(with: try request())
        let task = session.downloadTask(with: try request())
        task.resume()
        let sent = try bench.enqueued()
        #expect(sent.map { $0["task"]?.integerValue } == [Int64(task.taskIdentifier)])
        #expect(idle.state == .suspended)
        // Cancelled it ends without the daemon, and suspended it is what it was.
        idle.suspend()
        idle.cancel()
        #expect(try bench.recorder.errors.next().code == .cancelled)
        #expect(bench.daemon.calls(of: "ChangeTasks").isEmpty)
        #expect(await session.allTasks.map(\.taskIdentifier) == [task.taskIdentifier])
    }

    @Test func `suspending and resuming are told in their order`() throws {
        let task = bench.session(bench.recorder).downloadTask(with: try request())
        task.resume()
        #expect(try bench.enqueued().count == 1)
        task.suspend()
        task.suspend()
        task.resume()
        task.cancel()
        for action in ["suspend", "resume", "cancel"] {
            #expect(try bench.daemon.next("ChangeTasks")[1] == .string(action))
        }
    }

    @Test func `the session's header fields are in every task, a request's go before`() throws {
        bench.configuration.httpAdditionalHeaders = ["Authorization": "session", "X-A": 1]
        let session = bench.session(bench.recorder)
        // The session has its own copy.
        bench.configuration.httpAdditionalHeaders = ["Authorization": "late"]
        var own = try request()
        own.setValue("own", forHTTPHeaderField: "authorization")
        session.downloadTask(with: own).resume()
        #expect(try bench.enqueued()[0]["headers"] == ["X-A: 1", "authorization: own"])
        session.downloadTask(with: try request()).resume()
        #expect(try bench.enqueued()[0]["headers"] == ["Authorization: session", "X-A: 1"])
    }

    @Test(arguments: [20.0, 600])
    func `the session's time-out is in every task, a request's own goes before`(
        seconds: Double
    ) throws {
        bench.configuration.timeoutIntervalForRequest = seconds
        let session = bench.session(bench.recorder)
        func sent(_ request: URLRequest) throws -> Double? {
            session.downloadTask(with: request).resume()
            return try bench.enqueued()[0]["timeout"]?.doubleValue
        }
        var request = try request()
        #expect(request.timeoutInterval == 60)
        #expect(try sent(request) == seconds)
        for own in [10.0, 60, 900] {
            request.timeoutInterval = own
            // The usual one needs no word.
            #expect(try sent(request) == (own == 60 ? nil : own))
        }
        let url = try #require(request.url)
        #expect(try sent(URLRequest(url: url, timeoutInterval: 900)) == 900)
    }

    /// Apps set them, as iOS has them; nothing of it reaches the daemon.
    @Test func `what has no effect compiles and is kept`() async throws {
        let configuration = bench.configuration
        configuration.networkServiceType = .background
        configuration.httpShouldSetCookies = false
        configuration.httpShouldUsePipelining = true
        configuration.shouldUseExtendedBackgroundIdleMode = true
        let session = bench.session(bench.recorder)
        let copy = session.configuration
        #expect(copy.networkServiceType == .background && !copy.httpShouldSetCookies)
        #expect(copy.httpShouldUsePipelining && copy.shouldUseExtendedBackgroundIdleMode)
        var own = try request()
        #expect(own.networkServiceType == .default)
        own.networkServiceType = .responsiveData
        let task = session.downloadTask(with: own)
        #expect(task.delegate == nil && task.prefersIncrementalDelivery)
        task.delegate = bench.recorder
        task.prefersIncrementalDelivery = false
        #expect(task.delegate === bench.recorder && !task.prefersIncrementalDelivery)
        task.resume()
        var sent = try #require(try bench.enqueued()[0].mapValue)
        session.downloadTask(with: try request()).resume()
        var plain = try #require(try bench.enqueued()[0].mapValue)
        (sent["task"], plain["task"]) = (nil, nil)
        #expect(sent == plain)
        await withCheckedContinuation { done in session.flush { done.resume() } }
    }

    @Test(arguments: 0..<6)
    func `a network that is not allowed to one is not used`(which: Int) throws {
        var own = try request()
        switch which {
        case 0: bench.configuration.allowsCellularAccess = false
        case 1: bench.configuration.allowsExpensiveNetworkAccess = false
        case 2: bench.configuration.allowsConstrainedNetworkAccess = false
        case 3: own.allowsCellularAccess = false
        case 4: own.allowsExpensiveNetworkAccess = false
        default: own.allowsConstrainedNetworkAccess = false
        }
        let session = bench.session(bench.recorder)
        session.downloadTask(with: own).resume()
        #expect(try bench.enqueued()[0]["unmetered"] == true)
        session.downloadTask(with: try request()).resume()
        #expect(try bench.enqueued()[0]["unmetered"] == (which < 3 ? true : nil))
    }

    @Test func `what is taken from a cache only fails, by the session's word too`() throws {
        bench.configuration.requestCachePolicy = .returnCacheDataDontLoad
        let session = bench.session(bench.recorder)
        session.downloadTask(with: try request()).resume()
        #expect(try bench.recorder.errors.next().code == .resourceUnavailable)
        var own = try request()
        own.cachePolicy = .reloadIgnoringLocalCacheData
        session.downloadTask(with: own).resume()
        #expect(try bench.enqueued().count == 1)
        #expect(session.configuration.requestCachePolicy == .returnCacheDataDontLoad)
    }

    @Test func `a description is told whenever it is set, up to a length`() throws {
        let session = bench.session(bench.recorder)
        let task = session.downloadTask(with: try request())
        task.taskDescription = String(repeating: "a", count: 16_384)
        task.resume()
        let sent = try bench.enqueued()[0]
        #expect(sent["description"]?.stringValue?.utf8.count == 16_384)
        task.taskDescription = "later"
        task.taskDescription = "later"
        let told = try bench.daemon.next("ChangeTasks")
        #expect(told[1] == "describe" && told[3]["description"] == "later")
        task.taskDescription = nil
        #expect(try bench.daemon.next("ChangeTasks")[3]["description"] == nil)
        #expect(bench.daemon.calls(of: "ChangeTasks").isEmpty)
        let long = session.downloadTask(with: try request())
        long.taskDescription = String(repeating: "a", count: 16_385)
        long.resume()
        let error = try bench.recorder.errors.next()
        #expect((error as NSError).localizedFailureReason?.contains("16384 bytes") == true)
    }
}
