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
            for case .identified(_, let who?) in actions where who.isNew {
                known.append(who.device)
            }
            actions = []
            #expect(driver.rememberedDevices <= 2)
        }
        #expect(Set(known).count == 200)
    }

    @Test func `a device that comes from a backup is asked for its apps`() {
        let stored = StoredGateway(lastDevice: 9, lastRestored: 5)
        var driver = GatewayDriver(GatewayLimits(), stored)
        let now = GatewayBench().now
        func who(_ device: UInt64) -> IdentifiedDevice? {
            var actions: [GatewayAction] = []
            driver.handle(.identify(OperationID(device), key: [1]), at: now, into: &actions)
            let answer = StoreAnswer.device(DeviceID(device))
            driver.handle(.answered(.device(key: [1]), answer), at: now, into: &actions)
            for case .identified(_, let who) in actions { return who }
            return nil
        }
        #expect(who(4)?.mustRegister == true && who(4)?.isNew == false)
        #expect(who(5)?.mustRegister == false)
    }

    @Test func `a key of a sender that is none gets no address`() {
        var driver = GatewayDriver(GatewayLimits(), StoredGateway())
        var actions: [GatewayAction] = []
        let event = GatewayEvent.link(LinkID(1), .subscribe("a.b", key: nil))
        driver.handle(event, at: GatewayBench().now, into: &actions)
        var refusals: [RegistrationRefusal] = []
        for case .refused(LinkID(1), "a.b", let why) in actions { refusals.append(why) }
        #expect(refusals == [.badKey])
        #expect(driver.apps.number(of: "a.b") == nil)
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
