import GatewayCore
import TestKit
import Testing
import Vocabulary

/// What one address may have, and who finds room when there is little.
struct AdmissionTests {
    private let limits = AddressGate.Limits(connections: 4, handshakes: 2)

    private func group(_ number: UInt8) -> AddressGroup {
        AddressGroup(IPAddress(high: 0, low: 0xFFFF_C000_0200 | UInt64(number)))
    }

    // MARK: Groups

    @Test func `each IPv4 address counts alone, of IPv6 each 64`() {
        #expect(group(1) != group(2))
        let one = IPAddress(high: 0x2001_0DB8_0000_0001, low: 1)
        let other = IPAddress(high: 0x2001_0DB8_0000_0001, low: .max)
        let next = IPAddress(high: 0x2001_0DB8_0000_0002, low: 1)
        #expect(AddressGroup(one) == AddressGroup(other))
        #expect(AddressGroup(one) != AddressGroup(next))
        // ::1 has no neighbour among the IPv4 addresses.
        #expect(AddressGroup(IPAddress(high: 0, low: 1)) != group(1))
    }

    // MARK: The gate

    @Test func `handshakes of one address are few, those of another are its own`() {
        var gate = AddressGate()
        let first = (0..<3).map { _ in gate.admit(group(1), limits) }
        #expect(first == [true, true, false])
        let other = gate.admit(group(2), limits)
        #expect(other)
        gate.wasSetUp(group(1))
        let next = gate.admit(group(1), limits)
        #expect(next)
    }

    @Test func `a connection that ends makes room for one of its address`() {
        var gate = AddressGate()
        for _ in 0..<4 {
            let isWelcome = gate.admit(group(1), limits)
            #expect(isWelcome)
            gate.wasSetUp(group(1))
        }
        var answers = [gate.admit(group(1), limits)]
        gate.ended(group(1), isSetUp: true)
        answers.append(gate.admit(group(1), limits))
        // One that ended during its handshake leaves nothing either.
        gate.ended(group(1), isSetUp: false)
        answers.append(gate.admit(group(1), limits))
        #expect(answers == [false, true, true])
    }

    @Test func `an exempt address has no limit of its own`() {
        var gate = AddressGate()
        let answers = (0..<100).map { _ in gate.admit(nil, limits) }
        #expect(answers.allSatisfy { $0 })
    }

    @Test func `the last places are for those who were good before`() {
        var gate = AddressGate()
        // Nobody was: all places are for whoever comes.
        #expect(gate.room(for: group(1), of: 16) == 16)
        gate.wasGood(group(1))
        #expect(gate.room(for: group(2), of: 16) == 14)
        #expect(gate.room(for: group(1), of: 16) == 16)
        #expect(gate.room(for: nil, of: 16) == 16)
    }

    @Test func `who was good lately is remembered, of a bounded number`() {
        var gate = AddressGate()
        func group(_ number: UInt64) -> AddressGroup {
            AddressGroup(IPAddress(high: number, low: 0))
        }
        for number in 0..<100_000 as Range<UInt64> { gate.wasGood(group(number)) }
        #expect((90_000..<100_000).allSatisfy { gate.isGood(group($0)) })
        #expect((0..<100_000).count { gate.isGood(group($0)) } <= 20_000)
    }

    @Test(arguments: [3] + FreshSeeds.seeds(1))
    func `connections are found in the order in which they came`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var order = ArrivalOrder()
        var live: [UInt64] = []
        for number in 0..<5000 as Range<UInt64> {
            order.append(number)
            live.append(number)
            for _ in 0..<Int(random.within(0...2)) where !live.isEmpty {
                order.remove(live.remove(at: Int(random.within(0...Int64(live.count - 1)))))
            }
            #expect(order.first() == live.first && order.count == live.count)
            #expect(order.first { $0 % 2 == 1 } == live.first { $0 % 2 == 1 })
        }
    }

    @Test(arguments: [7] + FreshSeeds.seeds(1))
    func `whatever comes and goes, the counts are those of what is there`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var gate = AddressGate()
        var live: [(group: UInt8, isSetUp: Bool)] = []
        for _ in 0..<20_000 {
            let number = UInt8(random.within(0...4))
            if random.within(0...2) == 0, !live.isEmpty {
                let gone = live.remove(at: Int(random.within(0...Int64(live.count - 1))))
                gate.ended(group(gone.group), isSetUp: gone.isSetUp)
            } else if random.within(0...1) == 0 {
                guard let index = live.firstIndex(where: { $0.group == number && !$0.isSetUp })
                else { continue }
                live[index].isSetUp = true
                gate.wasSetUp(group(number))
            } else {
                let own = live.filter { $0.group == number }
                let isWelcome =
                    own.count < limits.connections
                    && own.count { !$0.isSetUp } < limits.handshakes
                let answer = gate.admit(group(number), limits)
                #expect(answer == isWelcome)
                if isWelcome { live.append((number, false)) }
            }
        }
    }

    // MARK: New devices

    @Test func `new devices of one address come few at once, then one after each interval`() {
        var gate = EnrolmentGate()
        func comes(_ number: UInt8, _ second: Int64) -> Bool {
            let now = BootTime(nanoseconds: second * 1_000_000_000)
            return gate.admit(group(number), atOnce: 3, refill: .seconds(10), at: now)
        }
        #expect((0..<5).map { _ in comes(1, 100) } == [true, true, true, false, false])
        #expect(comes(2, 100))
        #expect(!comes(1, 109))
        #expect(comes(1, 110))
        #expect(!comes(1, 110))
        let start = BootTime(nanoseconds: 0)
        let exempt = (0..<5).map { _ in
            gate.admit(nil, atOnce: 1, refill: .seconds(10), at: start)
        }
        #expect(exempt.allSatisfy { $0 })
    }
}

/// What a load balancer says first.
struct ProxyHeaderTests {
    static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

    private static func header(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
        signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xFF)] + rest
    }

    private static let ports: [UInt8] = [0, 1, 0, 2]

    @Test(arguments: [
        (
            header(0x21, 0x11, [192, 0, 2, 1, 10, 0, 0, 1] + ports),
            ProxyHeader.Source.client(IPAddress(high: 0, low: 0xFFFF_C000_0201))
        ),
        (
            header(
                0x21,
                0x21,
                [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7]
                    + [UInt8](repeating: 9, count: 16) + ports
            ),
            .client(IPAddress(high: 0x2001_0DB8_0000_0000, low: 7))
        ),
        // With further fields behind the addresses.
        (
            header(0x21, 0x11, [192, 0, 2, 1, 10, 0, 0, 1] + ports + [4, 0, 1, 9]),
            .client(IPAddress(high: 0, low: 0xFFFF_C000_0201))
        ),
        (header(0x20, 0, []), .proxy),
        (header(0x20, 0x11, [192, 0, 2, 1, 10, 0, 0, 1] + ports), .proxy),
        (header(0x21, 0, [1, 2, 3]), .proxy),
        (header(0x21, 0x31, [UInt8](repeating: 1, count: 216)), .proxy),
    ])
    func `it says who connects, in pieces of any size, and takes nothing behind it`(
        bytes: [UInt8],
        source: ProxyHeader.Source
    ) {
        for piece in [1, 3, 16, 17, 4096] {
            let answer = ProviderProperties.readHeader(bytes + [22, 3, 1], pieces: piece)
            #expect(answer?.source == source && answer?.taken == bytes.count, "\(piece)")
        }
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\n".utf8), Array("PROXY TCP4 192.0.2.1 ".utf8), [22, 3, 1],
        header(0x11, 0x11, [192, 0, 2, 1, 10, 0, 0, 1] + ports),
        header(0x22, 0x11, [192, 0, 2, 1, 10, 0, 0, 1] + ports),
        header(0x21, 0x12, [192, 0, 2, 1, 10, 0, 0, 1] + ports),
        header(0x21, 0x11, [192, 0, 2, 1]),
        header(0x21, 0x21, [192, 0, 2, 1, 10, 0, 0, 1] + ports),
        header(0x21, 0x11, [UInt8](repeating: 0, count: 4081)),
    ])
    func `what is none is refused`(bytes: [UInt8]) {
        for piece in [1, 4096] {
            #expect(ProviderProperties.readHeader(bytes, pieces: piece) == nil)
        }
    }
}

extension ProxyHeaderTests {
    @Test(arguments: [11] + FreshSeeds.seeds(1))
    func `any bytes are read alike in any pieces`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let good = Self.header(0x21, 0x11, [192, 0, 2, 1, 10, 0, 0, 1] + Self.ports) + [22, 3]
        for _ in 0..<5000 {
            var bytes = good
            for _ in 0...random.within(0...2) {
                bytes[Int(random.within(0...29))] = UInt8(random.within(0...255))
            }
            #expect(ProviderProperties.brokenProxyHeader(bytes) == nil, "\(bytes)")
        }
    }
}

/// Which devices are gone.
struct DeviceExpiryTests {
    private let limits = GatewayLimits()
    private let start = WallTime(nanoseconds: 1_800_000_000_000_000_000)

    private func moment(_ hours: Int64, wallAhead: Interval = .zero) -> Moment {
        Moment(
            boot: BootTime(nanoseconds: 0) + .hours(hours),
            awake: AwakeTime(nanoseconds: 0) + .hours(hours),
            wall: start + .hours(hours) + wallAhead,
            utcOffset: 0
        )
    }

    @Test func `nobody is gone before all had a day to come`() {
        var expiry = DeviceExpiry()
        for hour in 100..<124 as Range<Int64> {
            #expect(expiry.cutoff(at: moment(hour), limits) == nil)
        }
        // The note of who was there all the time is a day old.
        #expect(expiry.cutoff(at: moment(124), limits) == moment(124).wall - .days(91))
    }

    @Test(arguments: [Interval.days(300), .days(-300), .minutes(61)])
    func `a clock that is set gives everybody a day again`(jump: Interval) {
        var expiry = DeviceExpiry()
        for hour in 0...30 as ClosedRange<Int64> { _ = expiry.cutoff(at: moment(hour), limits) }
        for hour in 31..<55 as Range<Int64> {
            #expect(expiry.cutoff(at: moment(hour, wallAhead: jump), limits) == nil)
        }
        let late = moment(55, wallAhead: jump)
        #expect(expiry.cutoff(at: late, limits) == late.wall - .days(91))
    }

    @Test func `a gateway that slept gives everybody a day again`() {
        var expiry = DeviceExpiry()
        for hour in 0...30 as ClosedRange<Int64> { _ = expiry.cutoff(at: moment(hour), limits) }
        for hour in 3000..<3024 as Range<Int64> {
            #expect(expiry.cutoff(at: moment(hour), limits) == nil)
        }
        #expect(expiry.cutoff(at: moment(3024), limits) != nil)
    }

    @Test func `a clock that is put right a little changes nothing`() {
        var expiry = DeviceExpiry()
        for hour in 0...24 as ClosedRange<Int64> { _ = expiry.cutoff(at: moment(hour), limits) }
        #expect(expiry.cutoff(at: moment(25, wallAhead: .minutes(2)), limits) != nil)
    }

    @Test func `a device is noted as seen when it comes, and once a day while it is there`() {
        var bench = GatewayBench()
        func sightings(_ effects: [GatewayEffect]) -> Int {
            effects.count { if case .saw = $0 { true } else { false } }
        }
        #expect(sightings(bench.connect()) == 1)
        var seen = 0
        for _ in 0..<96 {
            _ = bench.pass(.minutes(30))
            seen += sightings(bench.after { $0.keptAlive(LinkID(1), nil, at: $1, into: &$2) })
        }
        #expect(seen == 2)
        #expect(sightings(bench.connect(2)) == 0)
    }
}
