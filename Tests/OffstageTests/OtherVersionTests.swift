import AppProtocol
import Foundation
@testable import Offstage
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The library with a daemon of another version: every call has a typed answer (A13).
struct OtherVersionTests {
    /// What a call is refused with.
    private func refusal(_ daemon: BenchDaemon) -> BGTaskScheduler.Error? {
        let session = TestSession(daemon.socket)
        do {
            try session.scheduler.submit(BGAppRefreshTaskRequest(identifier: "feed"))
            return nil
        } catch {
            return error as? BGTaskScheduler.Error
        }
    }

    private func reason(_ error: BGTaskScheduler.Error?) -> String {
        (error.map { $0 as NSError })?.localizedFailureReason ?? ""
    }

    // MARK: An older daemon

    @Test func `what an older daemon does not have is unavailable, and says why`() async throws {
        let old = try BenchDaemon(without: ["Submit", "Hello", "Limits", "Pending", "BeginTask"])
        let error = refusal(old)
        #expect(error?.code == .unavailable)
        #expect(reason(error).hasPrefix("the daemon is of another version: "))
        let session = TestSession(old.socket)
        #expect(session.session.greet() == nil)
        let application = await MainActor.run { TestApp(session.session).application }
        #expect(application.availableFeatures.isEmpty)
        #expect(await session.scheduler.pendingTaskRequests().isEmpty)
        await #expect(throws: BGTaskScheduler.Error.self) {
            try await application.backgroundLimits()
        }
        let expired = Inbox<Bool>()
        #expect(session.session.beginTask("send") { expired.put(true) } != 0)
        #expect(try expired.next(), "there is no time to be had")
        // What it has works.
        _ = try session.session.call(App1.Cancel())
    }

    @Test func `a reply that is not understood makes a call unavailable`() async throws {
        let daemon = try BenchDaemon()
        daemon.behave("Limits", .answer([["memory": "much"]]))
        daemon.behave("Hello", .answer([["app": "reader"]]))
        let session = TestSession(daemon.socket)
        #expect(session.session.greet() == nil)
        let application = await MainActor.run { TestApp(session.session).application }
        let error = await #expect(throws: BGTaskScheduler.Error.self) {
            try await application.backgroundLimits()
        }
        #expect(error?.code == .unavailable)
        #expect(reason(error).contains("reply to Limits"))
    }

    // MARK: A later daemon

    @Test func `what a later daemon calls beyond what is known is refused, and nothing else`()
        throws
    {
        let daemon = try BenchDaemon()
        let session = TestSession(daemon.socket)
        #expect(session.session.greet() != nil)
        func refusal(_ answer: Result<[Value], BusError>) -> String? {
            guard case .failure(let error) = answer, case .refused(let name) = error.reason else {
                return nil
            }
            return name
        }
        #expect(try refusal(daemon.tell("Later", [[:]])) == ErrorName.unknownMethod)
        let offer: [Value] = [1, "later", "feed", [:]]
        #expect(
            try refusal(daemon.tell("Offer", offer)) == ControlErrorName.notFound.rawValue
        )
        #expect(try refusal(daemon.tell("BecomeActive", [["later": 1]])) == nil)
        _ = try session.session.call(App1.Limits())
    }

    @Test func `a later daemon's refusals and replies are taken as far as they are known`()
        async throws
    {
        let daemon = try BenchDaemon()
        daemon.behave("Limits", .answer([["state": "later", "memory": 7, "later": [1]]]))
        daemon.behave("Pending", .answer([[["identifier": "feed", "kind": "later"]]]))
        daemon.behave("Submit", .refuseAs("org.offstage.Error.Later", "not as things will be"))
        let error = refusal(daemon)
        #expect(error?.code == .unavailable)
        #expect(reason(error) == "not as things will be")
        let session = TestSession(daemon.socket)
        let application = await MainActor.run { TestApp(session.session).application }
        #expect(try await application.backgroundLimits().memory == 7)
        #expect(await session.scheduler.pendingTaskRequests().isEmpty)
    }
}
