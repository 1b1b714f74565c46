import GatewayCore
import TestKit
import Testing
import Vocabulary

/// When the core wants to be called again.
struct AlarmTests {
    @Test
    func `the alarm is for the first push that waits for its device, not for one that was had`()
        throws
    {
        var bench = GatewayBench()
        let wait = bench.gateway.limits.acknowledgement
        _ = bench.connect()
        var sendings: [SendingID] = []
        for _ in 0..<3 {
            _ = bench.pass(.milliseconds(100))
            sendings += bench.push().effects.sendings.map(\.id)
        }
        let last = bench.now.boot + wait
        try #require(sendings.count == 3)
        for sending in sendings[..<2] {
            _ = bench.acknowledge(sending)
        }
        _ = bench.pass(.milliseconds(1))
        #expect(bench.gateway.alarm == last)
        _ = bench.acknowledge(sendings[2])
        _ = bench.pass(.milliseconds(1))
        #expect(bench.gateway.alarm == nil)
    }

    @Test func `a store that took nothing is tried again every five seconds until it does`() {
        var driver = GatewayDriver(GatewayLimits(), StoredGateway())
        var now = GatewayBench().now
        var actions: [GatewayAction] = []
        func handle(_ event: GatewayEvent) { driver.handle(event, at: now, into: &actions) }
        /// What is written now, and whether the store takes it.
        func write(_ problem: String?) -> [String] {
            actions = []
            handle(.turnEnded)
            for case .write(let batch) in actions {
                handle(.written(batch.number, problem: problem))
                if problem != nil { handle(.answered(.channels, .channels([]))) }
                return batch.changes.map { GatewayWorld.ChangeKind($0).rawValue }
            }
            return []
        }
        handle(.enrol(OperationID(1), key: [1]))
        #expect(write("full") == ["device"])
        for problem in ["full", nil] {
            #expect(driver.alarm == now.boot + .seconds(5))
            now.boot = now.boot + .seconds(4)
            handle(.passed)
            #expect(write(nil) == [])
            now.boot = now.boot + .seconds(1)
            handle(.passed)
            #expect(write(problem) == ["probe"])
        }
        #expect(driver.alarm == nil && driver.storeProblem == nil)
    }

    @Test(arguments: [5] + FreshSeeds.seeds(1))
    func `devices that come and go in a small memory keep what is theirs`(seed: UInt64) {
        var limits = GatewayLimits()
        limits.devicesInMemory = 4
        var gateway = Gateway(limits, lastPush: 0)
        var random = SeededRandom(seed: seed)
        for _ in 0..<2000 {
            let device = DeviceID(1 + random.next() % 40)
            if gateway.needs(device) {
                let app = AppNumber(UInt32(device.number))
                let registration = Registration(app: app, generation: 3, isActive: true)
                gateway.load(device, StoredDevice(registrations: [registration]))
            }
            let own = DeviceToken(
                device: device,
                app: AppNumber(UInt32(device.number)),
                generation: 3
            )
            #expect(gateway.refusal(of: own) == nil)
            let other = DeviceToken(device: device, app: AppNumber(99), generation: 3)
            #expect(gateway.refusal(of: other) == .refused(.badDeviceToken))
            #expect(gateway.knownDevices.count <= 5)
        }
    }
}
