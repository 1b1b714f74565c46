import DeviceCore
import Testing
import Vocabulary

/// A receiver that reconnects says what it has.
extension DeliveryTests {
    @Test func `a receiver that reconnects says what it accepted, runs and finished`() throws {
        var (bench, launch) = try Self.bench([.processing, .processing, .processing])
        let offers = bench.offers(launch)
        try #require(offers.count == 3)
        bench.say(launch, .accepted(offers[0]))
        bench.say(launch, .accepted(offers[1]))
        bench.say(launch, .disconnected)
        bench.say(
            launch,
            .reconnected(
                running: [offers[0]],
                finished: [FinishedDelivery(delivery: offers[1], result: .succeeded)]
            )
        )
        #expect(bench.results == [.succeeded])
        #expect(bench.offers(launch) == [offers[2]])
        bench.say(launch, .completed(offers[0], .succeeded))
        #expect(bench.results == [.succeeded, .succeeded])
    }

    @Test func `what was received but never heard go gets it again`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try bench.accept(launch)
        bench.say(launch, .disconnected)
        bench.say(launch, .reconnected(running: [], finished: []))
        #expect(bench.told(launch) == [.go(delivery)])
    }

    @Test func `an app that finished what was only offered has received it`() throws {
        var (bench, launch) = try Self.bench()
        let delivery = try #require(bench.offers(launch).first)
        bench.say(launch, .disconnected)
        bench.say(
            launch,
            .reconnected(
                running: [],
                finished: [FinishedDelivery(delivery: delivery, result: .succeeded)]
            )
        )
        #expect(bench.results == [.succeeded])
        #expect(bench.requests("app").isEmpty)
    }
}
