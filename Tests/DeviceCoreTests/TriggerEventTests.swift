@testable import DeviceCore
import Testing
import Vocabulary

/// What happens for an app becomes a request: which one it takes the place of, and how many wait.
struct TriggerEventTests {
    private static let most = Trigger.sessionEvents.row.mostPending
    private static let tooMany = "too many of the same kind wait for the app"

    private func device() -> Bench {
        var bench = Bench()
        bench.install(.linked("app"))
        return bench
    }

    /// Of the trigger that there is of this kind. The app has no session, for whose sake it would
    /// be taken back.
    private func happen(_ bench: inout Bench, _ identifier: String) {
        let event = TriggerEvent(
            trigger: .sessionEvents,
            app: AppID("app"),
            identifier: identifier,
            payload: ValueMap()
        )
        var transition = Device.Transition(now: bench.now)
        bench.device.enqueue(event, &transition)
        bench.send(.timer)
    }

    @Test func `what happens again takes the place of what waits`() throws {
        var bench = device()
        bench.set(.thermal, 3)
        happen(&bench, "bell")
        let first = try #require(bench.requests("app").first)
        happen(&bench, "bell")
        #expect(bench.requests("app").map(\.identifier) == ["bell"])
        #expect(bench.records[RecordKey(.request, first.id.description)] == nil)
        #expect(bench.dropped.isEmpty)
        bench.set(.thermal, 0)
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `what a launch has stays with it when the same happens again`() throws {
        var bench = device()
        happen(&bench, "bell")
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        let first = try #require(bench.requests("app").first)
        happen(&bench, "bell")
        #expect(bench.requests("app").map(\.state) == [.offered(launch), .pending])
        #expect(bench.requests("app").map(\.isCancelled) == [true, false])
        #expect(bench.records[RecordKey(.request, first.id.description)] != nil)
        bench.say(launch, .finishedLaunching(registered: []))
        let delivery = try bench.accept(launch, handler: false)
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.results == [.succeeded])
        #expect(bench.records[RecordKey(.request, first.id.description)] == nil)
        bench.advance(.minutes(1))
        #expect(bench.offers(launch).count == 1, "the second, in its turn")
        #expect(bench.dropped.isEmpty)
    }

    @Test func `what was replaced does not come back from a launch that was never begun`() throws {
        var bench = device()
        happen(&bench, "bell")
        let launch = try #require(bench.spawn(of: "app"))
        happen(&bench, "bell")
        let second = try #require(bench.requests("app").last)
        bench.send(.process(launch, .notStarted(StartFailure(.processes, reason: "none left"))))
        #expect(bench.requests("app").map(\.id) == [second.id])
        #expect(bench.dropped.isEmpty, "the second stands for it")
    }

    @Test func `its row says how far apart the launches for the same are`() throws {
        #expect(Trigger.sessionEvents.row.bucket == .doublingWait(.minutes(1)))
        var bench = device()
        happen(&bench, "bell")
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.say(launch, .finishedLaunching(registered: []))
        for minutes: Int64 in [1, 2, 4] {
            let began = bench.now.wall
            let delivery = try bench.accept(launch, handler: false)
            bench.say(launch, .completed(delivery, .succeeded))
            happen(&bench, "bell")
            let holds = bench.device.explain(AppID("app"), at: bench.now).first?.holds ?? []
            #expect(holds.map(\.gate) == ["back-off"])
            #expect(holds.map(\.value) == ["launched for events of a session just before"])
            #expect(holds.map(\.next) == [began + .minutes(minutes)])
            bench.advance(.minutes(minutes) - .milliseconds(1))
            #expect(bench.offers(launch).isEmpty, "\(minutes)")
            bench.advance(.milliseconds(1))
        }
    }

    @Test func `of too many that wait the oldest are dropped`() {
        var bench = device()
        bench.set(.thermal, 3)
        for number in 0..<Self.most + 2 { happen(&bench, "bell \(number)") }
        let kept = (2..<Self.most + 2).map { "bell \($0)" }
        #expect(bench.requests("app").map(\.identifier) == kept)
        #expect(bench.dropped == [Self.tooMany, Self.tooMany])
    }

    @Test func `the oldest of too many stays with the launch that has it`() throws {
        var bench = device()
        happen(&bench, "bell 0")
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        for number in 1...Self.most { happen(&bench, "bell \(number)") }
        let requests = bench.requests("app")
        #expect(requests.count { $0.isPending } == Self.most)
        #expect(requests.first?.identifier == "bell 0" && requests.first?.isCancelled == true)
        bench.say(launch, .finishedLaunching(registered: []))
        #expect(bench.offered(launch).first?.identifier == "bell 0")
        #expect(bench.offered(launch).count == Self.most + 1)
        #expect(bench.results.isEmpty && bench.dropped.isEmpty)
    }

    @Test func `a developer's test is not taken for what happened`() throws {
        var bench = device()
        bench.set(.thermal, 3)
        happen(&bench, "bell")
        bench.ask(.simulate(.launch, AppID("app"), identifier: "bell"))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        bench.ask(.cancelPending(AppID("app"), identifier: nil))
        #expect(bench.requests("app").map(\.mode) == [.simulated])
        happen(&bench, "bell")
        #expect(bench.requests("app").map(\.mode) == [.simulated, .normal])
        bench.say(launch, .finishedLaunching(registered: []))
        let delivery = try bench.accept(launch, handler: false)
        bench.say(launch, .completed(delivery, .succeeded))
        #expect(bench.runs.map(\.simulated) == [true])
        #expect(bench.requests("app").map(\.mode) == [.normal])
    }
}
