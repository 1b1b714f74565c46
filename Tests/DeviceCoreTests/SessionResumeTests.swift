import DeviceCore
import Testing
import Vocabulary

/// Tasks that an app resumes while nobody looks at it.
struct SessionResumeTests {
    @Test func `what is resumed in the background is discretionary as well`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        let order = SessionOrder(
            task: SessionTask(session: "photos", number: 1),
            order: TransferOrder(url: "http://example.org/1", directory: "/spool")
        )
        bench.askSession(launch, .enqueue([order], token: nil))
        let id = try #require(bench.sessionTasks.last)
        bench.askSession(launch, .suspend([1]))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.send(.condition(.metered, .kernel, .value(1)))
        bench.askSession(launch, .resume([1]))
        bench.advance(.seconds(1))
        #expect(bench.transferGates(id) == ["metered"])
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(bench.transfer(id)?.isUnderWay == true)
    }
}
