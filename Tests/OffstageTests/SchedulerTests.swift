import AppProtocol
import Foundation
import Linux
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Requests, and the errors that they are refused with.
struct SchedulerTests {
    private let daemon: BenchDaemon
    private let session: TestSession
    private var scheduler: BGTaskScheduler { session.scheduler }

    init() throws {
        daemon = try BenchDaemon()
        session = TestSession(daemon.socket)
    }

    @Test func submitSaysWhatTheRequestSays() throws {
        let refresh = BGAppRefreshTaskRequest(identifier: "feed")
        refresh.earliestBeginDate = Date(timeIntervalSince1970: 2_000_000_000)
        try scheduler.submit(refresh)
        var arguments = try daemon.next("Submit")
        #expect(arguments[0] == "feed")
        #expect(arguments[1]["kind"] == "refresh")
        #expect(arguments[1]["earliest"] == .double(2e9))
        #expect(arguments[1]["token"]?.stringValue?.isEmpty == false)
        #expect(arguments[1]["power"] == nil)

        let processing = BGProcessingTaskRequest(identifier: "clean")
        processing.requiresExternalPower = true
        try scheduler.submit(processing)
        arguments = try daemon.next("Submit")
        #expect(arguments[0] == "clean")
        #expect(arguments[1]["kind"] == "processing")
        #expect(arguments[1]["power"] == true)
        #expect(arguments[1]["network"] == nil)
        #expect(arguments[1]["earliest"] == nil)
    }

    @Test(arguments: [
        (ControlErrorName.unavailable, BGTaskScheduler.Error.Code.unavailable),
        (.tooManyPendingTaskRequests, .tooManyPendingTaskRequests),
        (.notPermitted, .notPermitted), (.immediateRunIneligible, .immediateRunIneligible),
        (.invalid, .notPermitted), (.storage, .unavailable),
    ])
    func refusalsAreApplesErrorsWithTheDaemonsReason(
        name: ControlErrorName,
        code: BGTaskScheduler.Error.Code
    ) async throws {
        daemon.behave("Submit", .refuse(name, "a rule: a value (a fix)"))
        let request = BGAppRefreshTaskRequest(identifier: "feed")
        let thrown = #expect(throws: BGTaskScheduler.Error.self) { try scheduler.submit(request) }
        #expect(thrown?.code == code)
        let error = try #require(thrown.map { $0 as NSError })
        #expect(error.domain == BGTaskScheduler.errorDomain)
        #expect(error.code == code.rawValue)
        #expect(error.localizedFailureReason == "a rule: a value (a fix)")
        #expect(error.localizedDescription == "A rule: a value (a fix).")
        let later = await #expect(throws: BGTaskScheduler.Error.self) {
            try await scheduler.submitTaskRequest(request)
        }
        #expect(later?.code == code)
        let last = await withCheckedContinuation { done in
            scheduler.submitTaskRequest(request) { done.resume(returning: $0) }
        }
        #expect((last as? BGTaskScheduler.Error)?.code == code)
    }

    /// The daemon, which permits all, never hears of it.
    @Test func anIdentifierWithAZeroByteIsNotPermitted() async throws {
        let request = BGAppRefreshTaskRequest(identifier: "fe\0ed")
        let thrown = #expect(throws: BGTaskScheduler.Error.self) { try scheduler.submit(request) }
        let later = await #expect(throws: BGTaskScheduler.Error.self) {
            try await scheduler.submitTaskRequest(request)
        }
        for error in [thrown, later] {
            #expect(error?.code == .notPermitted)
            let reason = error.map { $0 as NSError }?.localizedFailureReason ?? ""
            #expect(reason.contains(#"zero byte: "fe\u{0}ed""#), "\(reason)")
        }
        #expect(daemon.calls(of: "Submit").isEmpty)
    }

    @Test func codesAreCaughtByTheirNames() throws {
        daemon.behave("Submit", .refuse(.tooManyPendingTaskRequests, "too many"))
        var caught = false
        do {
            try scheduler.submit(BGAppRefreshTaskRequest(identifier: "feed"))
        } catch BGTaskScheduler.Error.tooManyPendingTaskRequests {
            caught = true
        }
        #expect(caught)
    }

    @Test func allFormsOfSubmittingReturnWhenTheRequestIsDurable() async throws {
        let request = BGProcessingTaskRequest(identifier: "clean")
        try await scheduler.submitTaskRequest(request)
        try daemon.next("Submit")
        let error = await withCheckedContinuation { done in
            scheduler.submitTaskRequest(request) { done.resume(returning: $0) }
        }
        #expect(error == nil)
        try daemon.next("Submit")
    }

    @Test func pendingRequestsAreReadBack() async throws {
        daemon.behave(
            "Pending",
            .answer([
                [
                    ["identifier": "feed", "kind": "refresh", "earliest": .double(2e9)],
                    ["identifier": "clean", "kind": "processing", "network": true],
                    ["identifier": "x", "kind": "of tomorrow"],
                ]
            ])
        )
        let requests = await scheduler.pendingTaskRequests()
        #expect(requests.map(\.identifier) == ["feed", "clean"])
        #expect(requests[0] is BGAppRefreshTaskRequest)
        #expect(requests[0].earliestBeginDate == Date(timeIntervalSince1970: 2e9))
        let clean = try #require(requests[1] as? BGProcessingTaskRequest)
        #expect(clean.requiresNetworkConnectivity)
        #expect(!clean.requiresExternalPower)
        let count = await withCheckedContinuation { done in
            scheduler.getPendingTaskRequests { done.resume(returning: $0.count) }
        }
        #expect(count == 2)
    }

    @Test func cancellingNamesOneOrAll() throws {
        scheduler.cancel(taskRequestWithIdentifier: "feed")
        #expect(try daemon.next("Cancel") == ["feed"])
        // As a name of nothing, not of everything; a zero byte is in no name.
        scheduler.cancel(taskRequestWithIdentifier: "")
        scheduler.cancel(taskRequestWithIdentifier: "fe\0ed")
        scheduler.cancelAllTaskRequests()
        #expect(try daemon.next("Cancel") == [""])
        _ = try session.session.call(App1.Limits())
        #expect(daemon.calls(of: "Cancel").isEmpty)
    }

    @Test func aRequestIsCopiedWithItsClass() throws {
        let request = BGProcessingTaskRequest(identifier: "clean")
        request.requiresNetworkConnectivity = true
        request.earliestBeginDate = .distantFuture
        let copy = try #require(request.copy() as? BGProcessingTaskRequest)
        request.requiresNetworkConnectivity = false
        #expect(copy.requiresNetworkConnectivity)
        #expect(copy.identifier == "clean")
        #expect(copy.earliestBeginDate == .distantFuture)
        #expect(BGAppRefreshTaskRequest(identifier: "a").copy() is BGAppRefreshTaskRequest)
    }

    // MARK: Without an answer

    @Test(arguments: ["none", ""])
    func withoutADaemonEveryCallFailsAtOnce(socket: String) async throws {
        let scratch = ScratchDirectory()
        let alone = TestSession(socket.isEmpty ? nil : scratch(socket))
        let request = BGAppRefreshTaskRequest(identifier: "feed")
        let thrown = #expect(throws: BGTaskScheduler.Error.self) {
            try alone.scheduler.submit(request)
        }
        #expect(thrown?.code == .unavailable)
        let reason = (thrown.map { $0 as NSError })?.localizedFailureReason ?? ""
        let named = socket.isEmpty ? "XDG_RUNTIME_DIR" : scratch(socket)
        #expect(reason.contains(named), "\(reason)")
        await #expect(throws: BGTaskScheduler.Error.self) {
            try await alone.scheduler.submitTaskRequest(request)
        }
        #expect(await alone.scheduler.pendingTaskRequests().isEmpty)
        alone.scheduler.cancelAllTaskRequests()
        #expect(alone.session.greet() == nil)
        let application = await MainActor.run { UIApplication(alone.session) }
        #expect(application.availableFeatures.isEmpty)
        await #expect(throws: BGTaskScheduler.Error.self) {
            try await application.backgroundLimits()
        }
    }

    @Test func aDaemonThatNeverAnswersIsWaitedForForABoundedTime() throws {
        daemon.behave("Submit", .silence)
        let impatient = TestSession(daemon.socket, ticks: 2)
        let thrown = #expect(throws: BGTaskScheduler.Error.self) {
            try impatient.scheduler.submit(BGAppRefreshTaskRequest(identifier: "feed"))
        }
        #expect(thrown?.code == .unavailable)
        #expect((thrown.map { $0 as NSError })?.localizedFailureReason?.contains("time") == true)
    }

    @Test func aDaemonThatIsBusyBeforeItSaysAnythingIsWaitedForForABoundedTime() throws {
        let scratch = ScratchDirectory()
        // It listens, and accepts nobody.
        let listener = try UnixListener(scratch("socket"))
        let impatient = TestSession(scratch("socket"), connecting: .milliseconds(50))
        #expect(throws: BGTaskScheduler.Error.self) {
            try impatient.scheduler.submit(BGAppRefreshTaskRequest(identifier: "feed"))
        }
        withExtendedLifetime(impatient) {}
        _ = listener
    }

    @Test func aConnectionThatIsLostFailsTheCallsOnIt() throws {
        daemon.behave("Submit", .hangUp)
        let thrown = #expect(throws: BGTaskScheduler.Error.self) {
            try scheduler.submit(BGAppRefreshTaskRequest(identifier: "feed"))
        }
        #expect(thrown?.code == .unavailable)
        // The next call finds its way again.
        daemon.behave("Submit", .answer([]))
        try scheduler.submit(BGAppRefreshTaskRequest(identifier: "feed"))
    }
}
