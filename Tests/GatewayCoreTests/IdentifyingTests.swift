import GatewayCore
import Testing
import Vocabulary

/// Devices that come while others are being looked up.
struct IdentifyingTests {
    /// The next one always asks before the last one is answered.
    @Test func `nothing is remembered of devices that are in the store for long`() {
        var driver = GatewayDriver(GatewayLimits(), StoredGateway())
        let now = GatewayBench().now
        var actions: [GatewayAction] = []
        func handle(_ event: GatewayEvent) { driver.handle(event, at: now, into: &actions) }
        var known: [DeviceID] = []
        handle(.identify(OperationID(0), key: [0]))
        for number in 1...200 as ClosedRange<UInt64> {
            let key = [UInt8(number - 1)]
            handle(.identify(OperationID(number), key: [UInt8(number)]))
            handle(.answered(.device(key: key), .device(nil)))
            handle(.enrol(OperationID(number - 1), key: key))
            handle(.turnEnded)
            for case .write(let batch) in actions { handle(.written(batch.number, problem: nil)) }
            for case .identified(_, let device?, true) in actions { known.append(device) }
            actions = []
            #expect(driver.rememberedDevices <= 2)
        }
        #expect(Set(known).count == 200)
    }

    /// Told who it is, and removed before it could say that it is there.
    @Test func `a device that was removed meanwhile is not connected`() {
        var driver = GatewayDriver(GatewayLimits(), StoredGateway())
        let now = GatewayBench().now
        var actions: [GatewayAction] = []
        let device = DeviceID(3)
        driver.handle(
            .connected(device, LinkID(1), DeviceCondition()),
            at: now,
            into: &actions
        )
        var record = StoredDevice()
        record.isKnown = false
        driver.handle(.answered(.record(device), .record(record)), at: now, into: &actions)
        let ends = actions.compactMap { action -> LinkEnd? in
            if case .end(LinkID(1), let why) = action { why } else { nil }
        }
        #expect(ends == [.removed])
    }
}
