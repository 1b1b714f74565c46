import AppProtocol
import ClientCore
import Foundation
import Linux
@testable import Offstage
import TestKit
import Testing
import Vocabulary

/// Time to finish something.
struct BackgroundTaskTests {
    private let daemon: BenchDaemon
    private let session: TestSession
    private let application: UIApplication

    init() async throws {
        daemon = try BenchDaemon()
        let session = TestSession(daemon.socket)
        self.session = session
        application = await MainActor.run { TestApp(session.session).application }
        try daemon.next("FinishedLaunching")
    }

    @Test func aTaskIsNamedBegunAndEnded() throws {
        let task = application.beginBackgroundTask(withName: "upload")
        #expect(task != .invalid)
        let begun = try daemon.next("BeginTask")
        #expect(begun[0] == "upload" && begun[1]["expires"] == nil)
        application.endBackgroundTask(task)
        #expect(try daemon.next("EndTask") == [1])
        // Ended before, or never begun: said on standard error, and nothing else.
        application.endBackgroundTask(task)
        application.endBackgroundTask(.invalid)
        _ = try session.session.call(App1.Limits())
        #expect(daemon.calls(of: "EndTask").isEmpty)
    }

    @Test func aTaskThatEndsBeforeTheDaemonHasAnsweredIsEndedThere() throws {
        let tasks = (0..<50).map { _ in
            let task = application.beginBackgroundTask {}
            application.endBackgroundTask(task)
            return task
        }
        #expect(Set(tasks).count == 50)
        let ended = try Set((0..<50).map { _ in try daemon.next("EndTask") })
        #expect(ended == Set((1...50).map { [.integer($0)] }))
    }

    @Test func theExpirationHandlerRunsOnceOnTheMainThread() throws {
        let expired = Inbox<Bool>()
        let application = application
        let task = Inbox<UIBackgroundTaskIdentifier>()
        task.put(
            application.beginBackgroundTask(withName: nil) {
                MainActor.preconditionIsolated()
                expired.put(true)
                if let task = try? task.next() { application.endBackgroundTask(task) }
            }
        )
        #expect(try daemon.next("BeginTask")[1]["expires"] == true)
        _ = try session.session.call(App1.Limits())
        try daemon.tell("ExpireTask", [1, "timeout", [:]])
        #expect(try expired.next())
        #expect(try daemon.next("EndTask") == [1])
        try daemon.tell("ExpireTask", [1, "timeout", [:]])
        try daemon.tell("ExpireTask", [77, "timeout", [:]])
        #expect(expired.isEmpty)
    }

    @Test func aTaskForWhichThereIsNoTimeExpiresAtOnce() throws {
        daemon.behave("BeginTask", .answer([0, [:]]))
        let expired = Inbox<Bool>()
        let task = application.beginBackgroundTask { expired.put(true) }
        #expect(try expired.next())
        application.endBackgroundTask(task)
        _ = try session.session.call(App1.Limits())
        #expect(daemon.calls(of: "EndTask").isEmpty, "the daemon knows of none")
    }

    @Test func aTaskSurvivesTheDaemon() throws {
        let task = application.beginBackgroundTask(withName: "upload")
        try daemon.next("BeginTask")
        _ = try session.session.call(App1.Limits())
        try daemon.vanish()
        application.endBackgroundTask(task)
        let other = application.beginBackgroundTask(withName: "more")
        try daemon.start()
        #expect(try daemon.next("EndTask") == [1])
        #expect(try daemon.next("BeginTask")[0] == "more")
        application.endBackgroundTask(other)
        #expect(try daemon.next("EndTask") == [2])
    }

    @Test func aTaskWhoseBeginningWasNotAnsweredIsBegunAgainAsTheSame() throws {
        daemon.behave("BeginTask", .hangUp)
        application.beginBackgroundTask(withName: "upload")
        let first = try daemon.next("BeginTask")
        daemon.behave("BeginTask", .answer([5, [:]]))
        try daemon.restart()
        #expect(try daemon.next("BeginTask") == first)
        #expect(first[1]["token"]?.stringValue?.isEmpty == false)
    }

    /// Ends its task when it goes, as a careful owner does.
    private final class Owner: Sendable {
        let application: UIApplication
        init(_ application: UIApplication) { self.application = application }
        deinit {
            application.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: 1))
        }
    }

    @Test func whatAHandlerHoldsMayEndItsTaskWhenItGoes() throws {
        var owner = Optional(Owner(application))
        let task = application.beginBackgroundTask { [owner] in withExtendedLifetime(owner) {} }
        owner = nil
        try daemon.next("BeginTask")
        _ = try session.session.call(App1.Limits())
        application.endBackgroundTask(task)
        #expect(try daemon.next("EndTask") == [1])
        #expect(owner == nil)
    }

    @Test func aLongNameIsCut() throws {
        application.beginBackgroundTask(withName: String(repeating: "ä\0", count: 300))
        let name = try daemon.next("BeginTask")[0]
        #expect(name == .string(String(repeating: "ä", count: 127)))
    }

    // MARK: Time that is left

    private var now: Double { Double(Clocks.now().awake.nanoseconds) / 1e9 }

    @Test func theTimeLeftCountsInTheBackgroundWhileSomethingIsOpen() throws {
        let task = application.beginBackgroundTask(withName: "upload")
        try daemon.next("BeginTask")
        #expect(application.backgroundTimeRemaining == .greatestFiniteMagnitude)
        try daemon.tell("EnterBackground", [["deadline": .double(now + 180)]])
        #expect((170...180).contains(application.backgroundTimeRemaining))
        try daemon.tell("ExpireTask", [1, "timeout", ["deadline": .double(now + 5)]])
        #expect((0...5).contains(application.backgroundTimeRemaining))
        try daemon.tell("ExpireTask", [1, "timeout", ["deadline": .double(now - 1)]])
        #expect(application.backgroundTimeRemaining == 0)
        application.endBackgroundTask(task)
        #expect(application.backgroundTimeRemaining == .greatestFiniteMagnitude)
    }

    @Test func theTimeLeftOfAWakeIsThatOfItsLongestWork() throws {
        try daemon.tell("EnterBackground", [[:]])
        try daemon.offer(1, "fetch")
        try daemon.go(1, ["deadline": .double(now + 30)])
        #expect((20...30).contains(application.backgroundTimeRemaining))
        try daemon.tell("EnterForeground", [[:]])
        #expect(application.backgroundTimeRemaining == .greatestFiniteMagnitude)
    }

    @Test func theTimeOfAnEarlierStayInTheBackgroundIsForgotten() throws {
        let task = application.beginBackgroundTask(withName: "upload")
        try daemon.next("BeginTask")
        try daemon.tell("EnterBackground", [["deadline": .double(now + 180)]])
        try daemon.offer(1, "fetch")
        try daemon.go(1, ["deadline": .double(now + 3000)])
        try daemon.tell("ExpireTask", [1, "timeout", ["deadline": .double(now - 1)]])
        try daemon.tell("EnterForeground", [[:]])
        try daemon.tell("EnterBackground", [["deadline": .double(now + 180)]])
        #expect((170...180).contains(application.backgroundTimeRemaining))
        application.endBackgroundTask(task)
    }

    @Test func whatGoesOnAfterTheUserHasLeftAgainHasATimeOfItsOwn() throws {
        try daemon.tell("EnterBackground", [[:]])
        try daemon.offer(1, "fetch")
        try daemon.go(1, ["deadline": .double(now + 30)])
        try daemon.tell("EnterForeground", [[:]])
        let work: Value = [["delivery": 1, "deadline": .double(now + 25)]]
        try daemon.tell("EnterBackground", [["deadline": .double(now + 180), "work": work]])
        #expect((15...25).contains(application.backgroundTimeRemaining))
    }

    // MARK: Without a daemon

    @Test func aProcessThatDoesNotGreetHasTimeOnceThereIsADaemon() throws {
        try daemon.vanish()
        let helper = TestSession(daemon.socket)
        #expect(throws: CallError.self) { try helper.session.call(App1.Limits()) }
        #expect(helper.session.beginTask("early", expired: nil) == 0)
        try daemon.start()
        _ = try helper.session.call(App1.Limits())
        #expect(helper.session.beginTask("upload", expired: nil) != 0)
        #expect(try daemon.next("BeginTask")[0] == "upload")
    }

    @Test func whatIsKeptForADaemonFailsWhenTheSessionEnds() throws {
        try daemon.vanish()
        let alone = TestSession(daemon.socket)
        let answers = Inbox<Bool>()
        alone.session.ask(
            OutgoingCall(App1.Cancel(), .kept) { answer in
                answers.put((try? answer.get()) == nil)
            }
        )
        alone.session.stop()
        #expect(try answers.next())
    }

    @Test func withoutADaemonThereIsNoTimeToBeHad() async throws {
        let alone = TestSession(ScratchDirectory()("none"))
        let application = await MainActor.run { TestApp(alone.session).application }
        let task = application.beginBackgroundTask { Issue.record("called for nothing") }
        #expect(task == .invalid)
        #expect(application.backgroundTimeRemaining == .greatestFiniteMagnitude)
        let activity = Inbox<Bool>()
        ProcessInfo.processInfo.perform("sending", alone.session) { activity.put($0) }
        #expect(try activity.next(), "it expires at once")
    }

    // MARK: Activities

    /// It returns when it has been told that its time is over, too.
    private func beginActivity() -> Inbox<Bool> {
        let calls = Inbox<Bool>()
        let mayReturn = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.perform("sending", session.session) { isExpired in
            calls.put(isExpired)
            if isExpired { mayReturn.signal() } else { mayReturn.wait() }
        }
        return calls
    }

    @Test func anActivityHasTimeUntilItReturns() throws {
        let calls = beginActivity()
        let begun = try daemon.next("BeginTask")
        #expect(begun[0] == "sending")
        #expect(begun[1]["activity"] == true && begun[1]["expires"] == true)
        #expect(try !calls.next())
        try daemon.tell("ExpireTask", [1, "timeout", [:]])
        #expect(try calls.next(), "at the same time")
        #expect(try daemon.next("EndTask") == [1])
        #expect(calls.isEmpty)
    }

    @Test func anActivityIsBegunAgainByTheNextDaemonWhichMayExpireIt() throws {
        let calls = beginActivity()
        let begun = try daemon.next("BeginTask")
        #expect(begun[1]["token"]?.stringValue?.isEmpty == false)
        #expect(try !calls.next())
        daemon.behave("BeginTask", .answer([5, [:]]))
        try daemon.restart()
        #expect(try daemon.next("BeginTask") == begun, "it is the same task")
        _ = try session.session.call(App1.Limits())
        try daemon.tell("ExpireTask", [5, "timeout", [:]])
        #expect(try calls.next())
        #expect(try daemon.next("EndTask") == [5])
        daemon.forget("Hello")
        try daemon.restart()
        try daemon.next("Hello")
        _ = try session.session.call(App1.Limits())
        #expect(daemon.calls(of: "BeginTask").isEmpty, "it has ended")
    }

    @Test func anActivityForWhichTheNextDaemonHasNoTimeExpires() throws {
        let calls = beginActivity()
        #expect(try !calls.next())
        daemon.behave("BeginTask", .answer([0, [:]]))
        try daemon.restart()
        #expect(try calls.next())
    }

    @Test func timeThatComesAfterAnActivityWasGivenUpIsGivenBack() throws {
        daemon.behave("BeginTask", .silence)
        let impatient = TestSession(daemon.socket, ticks: 2)
        let calls = Inbox<Bool>()
        ProcessInfo.processInfo.perform("sending", impatient.session) { calls.put($0) }
        #expect(try calls.next(), "it has expired")
        try daemon.answerTheSilent([9, [:]])
        #expect(try daemon.next("EndTask") == [9])
        #expect(calls.isEmpty)
    }

    @Test func anActivityForWhichThereIsNoTimeIsToldSo() throws {
        daemon.behave("BeginTask", .answer([0, [:]]))
        let calls = Inbox<Bool>()
        ProcessInfo.processInfo.perform("sending", session.session) { calls.put($0) }
        #expect(try calls.next())
        #expect(calls.isEmpty)
    }
}
