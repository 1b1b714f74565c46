import AppProtocol
import ClientCore
import Foundation
import Linux
@testable import Offstage
import Synchronization
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Deliveries: from the offer to the completion, through the deaths of the daemon.
struct TaskTests {
    private let daemon: BenchDaemon
    private let session: TestSession
    private let tasks = Inbox<BGTask>()

    init() throws {
        daemon = try BenchDaemon()
        session = TestSession(daemon.socket)
    }

    /// As an app that has launched, with a handler for `feed` and `clean`.
    private func launch() throws {
        let tasks = tasks
        for identifier in ["feed", "clean"] {
            let isRegistered = session.scheduler.register(
                forTaskWithIdentifier: identifier,
                using: nil
            ) { tasks.put($0) }
            #expect(isRegistered)
        }
        #expect(session.session.greet() != nil)
        session.session.finishedLaunching()
        #expect(try daemon.next("Hello")[0]["running"] == nil)
        #expect(try daemon.next("FinishedLaunching") == [["clean", "feed"]])
    }

    // MARK: Handlers

    @Test func aHandlerIsRegisteredOnceBeforeLaunchingEndsAndForWhatIsPermitted() throws {
        daemon.greet(["state": "background", "permitted": ["feed", "clean.*"]])
        let scheduler = session.scheduler
        #expect(session.session.greet() != nil)
        func register(_ identifier: String) -> Bool {
            scheduler.register(forTaskWithIdentifier: identifier, using: nil) { _ in }
        }
        #expect(register("feed"))
        #expect(!register("feed"), "a second time")
        #expect(!register("other"), "not permitted")
        #expect(!register("clean.\0"), "no identifier")
        #expect(register("clean.1"))
        session.session.finishedLaunching()
        #expect(!register("clean.2"), "late")
        #expect(try daemon.next("FinishedLaunching") == [["clean.1", "feed"]])
        // Which of them it was stands in the app's history.
        for told in [
            ["registeredTwice", "feed"], ["registeredUnpermitted", "other"],
            ["registeredUnpermitted", "clean.\u{FFFD}"],
            ["registeredLate", "clean.2"],
        ] {
            #expect(try daemon.next("Mistaken") == told.map { .string($0) })
        }
        #expect(!register("clean.2"))
        _ = try session.session.call(App1.Limits())
        #expect(daemon.calls(of: "Mistaken").isEmpty, "once")
    }

    @Test func theHandlerRunsWhenTheDaemonSaysSoAndNotBefore() throws {
        try launch()
        try daemon.offer(7, "refresh", "feed")
        // Answered after the offer, on the same connection and thread.
        _ = try session.session.call(App1.Limits())
        #expect(tasks.isEmpty)
        try daemon.go(7)
        let task = try tasks.next()
        #expect(task is BGAppRefreshTask)
        #expect(task.identifier == "feed")
        task.setTaskCompleted(success: true)
        #expect(try daemon.next("Complete") == [7, "succeeded"])
        task.setTaskCompleted(success: false)
        _ = try session.session.call(App1.Limits())
        #expect(daemon.calls(of: "Complete").isEmpty, "a second completion does not count")
        #expect(try daemon.next("Mistaken") == ["completedAgain", "feed"])
    }

    @Test func whatWasAcceptedAndNeverBegunIsForgottenInTheEnd() throws {
        try launch()
        for delivery in 1...100 { try daemon.offer(Int64(delivery), "refresh", "feed") }
        let answer = try daemon.tell("Go", [1, [:]])
        #expect(throws: BusError.self) { try answer.get() }
        try daemon.go(100)
        #expect(try tasks.next().identifier == "feed")
    }

    @Test func workWithoutAHandlerIsNotAccepted() throws {
        try launch()
        for (kind, identifier) in [("refresh", "other"), ("fetch", ""), ("of tomorrow", "feed")] {
            let answer = try daemon.tell("Offer", [1, .string(kind), .string(identifier), [:]])
            #expect(throws: BusError.self) { try answer.get() }
        }
        let answer = try daemon.tell("Go", [1, [:]])
        #expect(throws: BusError.self) { try answer.get() }
    }

    @Test func offersAndGoesThatComeTwiceRunTheHandlerOnce() throws {
        try launch()
        try daemon.offer(1, "processing", "clean")
        try daemon.offer(1, "processing", "clean")
        try daemon.go(1)
        try daemon.go(1)
        let task = try tasks.next()
        #expect(task is BGProcessingTask)
        try daemon.offer(1, "processing", "clean")
        task.setTaskCompleted(success: false)
        #expect(try daemon.next("Complete") == [1, "unsuccessful"])
        #expect(tasks.isEmpty)
    }

    @Test func severalTasksRunSideBySideAndAreCompletedEachForItself() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        try daemon.deliver(2, "processing", "clean")
        let first = try tasks.next()
        let second = try tasks.next()
        second.setTaskCompleted(success: true)
        #expect(try daemon.next("Complete") == [2, "succeeded"])
        first.setTaskCompleted(success: false)
        #expect(try daemon.next("Complete") == [1, "unsuccessful"])
    }

    @Test func aTaskThatIsLetGoIsReportedAtOnce() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        _ = try tasks.next()
        #expect(try daemon.next("Complete") == [1, "unsuccessful"])
        #expect(try daemon.next("Mistaken") == ["letGo", "feed"])
    }

    // MARK: Where handlers run

    @Test func aHandlerRunsOnTheQueueThatItWasGiven() throws {
        let queue = DispatchQueue(label: "test")
        let done = Inbox<Bool>()
        session.scheduler.register(forTaskWithIdentifier: "feed", using: queue) { task in
            dispatchPrecondition(condition: .onQueue(queue))
            done.put(true)
            task.setTaskCompleted(success: true)
        }
        #expect(session.session.greet() != nil)
        session.session.finishedLaunching()
        try daemon.next("FinishedLaunching")
        try daemon.deliver(1, "refresh", "feed")
        #expect(try done.next())
        try daemon.next("Complete")
    }

    @MainActor private func registerOnMain(_ done: Inbox<Bool>) {
        session.scheduler.register(forTaskWithIdentifier: "feed", using: nil) { task in
            MainActor.preconditionIsolated()
            task.expirationHandler = {
                MainActor.preconditionIsolated()
                done.put(false)
                task.setTaskCompleted(success: false)
            }
            done.put(true)
        }
    }

    @Test func aHandlerOfTheMainActorRunsThere() async throws {
        let done = Inbox<Bool>()
        await registerOnMain(done)
        #expect(session.session.greet() != nil)
        session.session.finishedLaunching()
        try daemon.next("FinishedLaunching")
        try daemon.deliver(1, "refresh", "feed")
        #expect(try done.next())
        #expect(try daemon.next("ExpirationHandler") == [1, true])
        _ = try daemon.tell("Expire", [1, "timeout", [:]])
        #expect(try !done.next())
        #expect(try daemon.next("Complete") == [1, "unsuccessful"])
    }

    // MARK: Expiry

    @Test func theExpirationHandlerIsCalledOnceAndItsComingAndGoingIsTold() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        let task = try tasks.next()
        let expired = Inbox<Bool>()
        task.expirationHandler = { expired.put(true) }
        #expect(try daemon.next("ExpirationHandler") == [1, true])
        task.expirationHandler = nil
        #expect(try daemon.next("ExpirationHandler") == [1, false])
        #expect(task.expirationHandler == nil)
        task.expirationHandler = { expired.put(true) }
        task.expirationHandler = { expired.put(false) }
        #expect(try daemon.next("ExpirationHandler") == [1, true])
        _ = try daemon.tell("Expire", [1, "timeout", [:]])
        #expect(try !expired.next(), "the last one that was set")
        #expect(task.expirationHandler == nil, "cleared by its call")
        _ = try daemon.tell("Expire", [1, "timeout", [:]])
        task.setTaskCompleted(success: true)
        // Completed after expiry, with whatever the app says.
        #expect(try daemon.next("Complete") == [1, "succeeded"])
        #expect(expired.isEmpty)
        #expect(daemon.calls(of: "ExpirationHandler").isEmpty)
    }

    @Test func anExpirationHandlerThatBlocksKeepsNoOtherFromBeingCalled() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        try daemon.deliver(2, "processing", "clean")
        let (first, second) = (try tasks.next(), try tasks.next())
        let (mayReturn, expired) = (DispatchSemaphore(value: 0), Inbox<Bool>())
        defer { mayReturn.signal() }
        first.expirationHandler = {
            expired.put(false)
            mayReturn.wait()
        }
        second.expirationHandler = { expired.put(true) }
        try daemon.tell("Expire", [1, "timeout", [:]])
        #expect(try !expired.next())
        try daemon.tell("Expire", [2, "timeout", [:]])
        #expect(try expired.next())
    }

    @Test func aHandlerThatIsSetAfterItsTimeCameIsCalledAtOnce() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        let task = try tasks.next()
        let end = AppSession.now + 60
        _ = try daemon.tell("Expire", [1, "timeout", ["deadline": .double(end)]])
        let expired = Inbox<Bool>()
        task.expirationHandler = { expired.put(true) }
        #expect(try expired.next())
        #expect(try daemon.next("ExpirationHandler") == [1, true])
        #expect(task.expirationHandler == nil)
        task.setTaskCompleted(success: false)
        #expect(try daemon.next("Complete") == [1, "unsuccessful"])
    }

    @Test func withoutAHandlerACompletionIsSaidBeforeTheEndAndAfterIt() throws {
        try launch()
        for (number, margin) in [(Int64(1), 60.0), (2, -1)] {
            try daemon.deliver(number, "refresh", "feed")
            let task = try tasks.next()
            let end = AppSession.now + margin
            _ = try daemon.tell(
                "Expire",
                [.integer(number), "timeout", ["deadline": .double(end)]]
            )
            task.setTaskCompleted(success: true)
            // Whether it is too late, the daemon says.
            #expect(try daemon.next("Complete") == [.integer(number), "succeeded"])
        }
    }

    @Test func completionClearsTheExpirationHandler() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        let task = try tasks.next()
        let expired = Inbox<Bool>()
        task.expirationHandler = { expired.put(true) }
        task.setTaskCompleted(success: true)
        #expect(task.expirationHandler == nil)
        try daemon.next("Complete")
        _ = try daemon.tell("Expire", [1, "timeout", [:]])
        task.expirationHandler = { expired.put(true) }
        #expect(task.expirationHandler == nil)
        #expect(expired.isEmpty)
    }

    // MARK: A daemon that dies

    @Test func whatWasAcceptedAndNotBegunNeedsOnlyAGoOfTheNextDaemon() throws {
        try launch()
        try daemon.offer(1, "refresh", "feed")
        try daemon.restart()
        let hello = try daemon.next("Hello")
        #expect(hello[0]["running"] == .list([]), "what was not begun is not running")
        #expect(hello[0]["registered"] == ["clean", "feed"])
        // The receipt was durable.
        try daemon.go(1)
        try tasks.next().setTaskCompleted(success: true)
        #expect(try daemon.next("Complete") == [1, "succeeded"])
        #expect(tasks.isEmpty)
    }

    @Test func whatWasAcceptedMayBeOfferedAgainByTheNextDaemonAndRunsOnce() throws {
        try launch()
        try daemon.offer(1, "refresh", "feed")
        try daemon.restart()
        try daemon.next("Hello")
        try daemon.deliver(1, "refresh", "feed")
        try tasks.next().setTaskCompleted(success: true)
        #expect(try daemon.next("Complete") == [1, "succeeded"])
        #expect(tasks.isEmpty)
    }

    @Test func whatRunsAndWhatWasFinishedMeanwhileIsSaidToTheNextDaemon() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        try daemon.deliver(2, "processing", "clean")
        let first = try tasks.next()
        let second = try tasks.next()
        second.expirationHandler = {}
        try daemon.next("ExpirationHandler")
        daemon.die()
        first.setTaskCompleted(success: true)
        // In the order of the calls: once this has failed, the completion is known.
        #expect(throws: CallError.self) { try session.session.call(App1.Pending()) }
        try daemon.start()
        let hello = try daemon.next("Hello")
        #expect(hello[0]["running"] == [2])
        #expect(hello[0]["finished"] == [["delivery": 1, "result": "succeeded"]])
        #expect(hello[0]["registered"] == ["clean", "feed"])
        second.setTaskCompleted(success: true)
        #expect(try daemon.next("Complete") == [2, "succeeded"])
        #expect(daemon.calls(of: "Complete").isEmpty, "the hello has said it")
        try daemon.restart()
        let last = try daemon.next("Hello")
        #expect(last[0]["running"] == .list([]))
        #expect(last[0]["finished"] == .list([]))
    }

    @Test func aCompletionThatWasNotAnsweredIsSaidAgain() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        daemon.behave("Complete", .hangUp)
        try tasks.next().setTaskCompleted(success: true)
        try daemon.next("Complete")
        let hello = try daemon.next("Hello")
        #expect(hello[0]["finished"] == [["delivery": 1, "result": "succeeded"]])
    }

    @Test func aHandlerThatWasSetWhileNobodyListenedIsTold() throws {
        try launch()
        try daemon.deliver(1, "refresh", "feed")
        let task = try tasks.next()
        try daemon.vanish()
        task.expirationHandler = {}
        try daemon.start()
        try daemon.next("Hello")
        #expect(try daemon.next("ExpirationHandler") == [1, true])
        withExtendedLifetime(task) {}
    }

    @Test func registeringIsNotLateForADaemonThatComesLater() throws {
        try daemon.vanish()
        let tasks = tasks
        session.scheduler.register(forTaskWithIdentifier: "feed", using: nil) { tasks.put($0) }
        #expect(session.session.greet() == nil)
        session.session.finishedLaunching()
        try daemon.start()
        #expect(try daemon.next("Hello")[0]["registered"] == ["feed"])
        try daemon.deliver(1, "refresh", "feed")
        try tasks.next().setTaskCompleted(success: true)
        #expect(try daemon.next("Complete") == [1, "succeeded"])
    }
}
