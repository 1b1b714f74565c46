import DeviceCore
import Testing
import Vocabulary

/// The end of a run or task, said while the store fails.
struct StoredEndTests {
    private typealias Setup = DriverTests.Setup

    @Test(arguments: [
        AppEvent.taskEnded(task: 7, reply: ReplyToken(9)),
        .completed(DeliveryID(3), .newData, reply: ReplyToken(9)),
        .reconnected(
            running: [],
            finished: [FinishedDelivery(delivery: DeliveryID(3), result: .newData)],
            reply: ReplyToken(9)
        ),
    ])
    func `who has ended something is answered when that is stored`(_ end: AppEvent) throws {
        var setup = Setup(.manifests([.present(.refreshing("app"))]))
        let launch = try #require(setup.spawned.first)
        setup.fail()
        setup.turn(.app(launch, end))
        #expect(setup.replies.isEmpty)
        setup.turn(.timer)
        #expect(setup.replies.isEmpty)
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.replies.count == 1)
    }

    @Test func `an end that is said again while the store fails is one end`() throws {
        var setup = Setup(.manifests([.present(.refreshing("app"))]))
        let launch = try #require(setup.spawned.first)
        setup.fail()
        for token: UInt64 in [7, 8] {
            setup.turn(.app(launch, .taskEnded(task: 1, reply: ReplyToken(token))))
            setup.turn(.app(launch, .completed(DeliveryID(3), .newData, reply: ReplyToken(token))))
        }
        setup.turn(.app(launch, .completed(DeliveryID(3), .failed, reply: ReplyToken(9))))
        let waiting = setup.driver.unsettled.filter {
            if case .app = $0.event { true } else { false }
        }
        #expect(waiting.count == 3, "also the mistake of another result")
        setup.driver.port.error = nil
        setup.turn(.timer)
        #expect(setup.replies.count == 3)
    }
}
