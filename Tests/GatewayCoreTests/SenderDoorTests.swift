import GatewayCore
import Testing
import Vocabulary

/// Who may be on the providers' ports when there are too many.
struct SenderDoorTests {
    /// What is known of a connection from outside.
    private struct Connection {
        var group: AddressGroup?
        var start: BootTime
        var isSetUp = false
        var isProvider = false
        var isNamed = true
    }

    private static func group(_ number: UInt64) -> AddressGroup {
        AddressGroup(IPAddress(high: 0x2001_0DB8_0000_0000 | number, low: 1))
    }

    private static func limits() -> SenderLimits {
        var limits = SenderLimits()
        (limits.connections, limits.perAddress, limits.handshakesPerAddress) = (16, 5, 3)
        limits.proofTime = .seconds(30)
        return limits
    }

    /// Connections come and go at random. Whoever is refused had no right to a place, and who goes
    /// for another had shown nothing for a while.
    private struct World {
        var random: SeededRandom
        var door = SenderDoor(limits())
        var now = BootTime(nanoseconds: 1)
        var live: [UInt64: Connection] = [:]
        var good: Set<AddressGroup> = []
        var counted: [String: UInt64] = [:]
        var problems: [String] = []
        var last: UInt64 = 0

        mutating func step() {
            now = now + .milliseconds(Int64(random.below(400)))
            switch random.below(10) {
            case 0..<5: arrive()
            case 5: setUp()
            case 6: prove()
            case 7: name()
            case 8: leave()
            default: if random.below(10) == 0 { runOut() }
            }
            if door.count != live.count { problems.append("\(door.count), not \(live.count)") }
            if live.count > 16 { problems.append("\(live.count) connections") }
        }

        mutating func any(where isWanted: (Connection) -> Bool) -> UInt64? {
            let numbers = live.keys.sorted().filter { live[$0].map(isWanted) ?? false }
            return numbers.isEmpty ? nil : numbers[Int(random.below(UInt64(numbers.count)))]
        }

        mutating func anyGroup() -> AddressGroup? {
            random.below(8) == 0 ? nil : group(random.below(12))
        }

        mutating func arrive() {
            last += 1
            let isNamed = random.below(5) > 0
            let group = isNamed ? anyGroup() : nil
            check(door.arrived(last, from: group, at: now), of: group, beside: live.count)
            if live.count < door.count || door.count == 16 && counted["taken"] == last {
                counted["connections", default: 0] += 1
                live[last] = Connection(group: group, start: now, isNamed: isNamed)
            }
        }

        func isGood(_ group: AddressGroup?) -> Bool { group.map { good.contains($0) } ?? true }

        /// Counts what the door says, and looks whether it may say so.
        mutating func check(
            _ arrival: SenderArrival,
            of group: AddressGroup?,
            beside taken: Int,
            not own: UInt64? = nil
        ) {
            let others = live.filter { $0.key != own && group != nil && $0.value.group == group }
            let isOver =
                others.count >= 5 || others.values.count { !$0.isSetUp } >= 3
            let room = good.isEmpty || isGood(group) ? 16 : 14
            let old = live.filter { number, other in
                number != own && !other.isProvider && other.start + .seconds(3) < now
                    && (isGood(group) || !isGood(other.group))
            }
            switch arrival {
            case .refused:
                if isOver { return }
                if taken < room || !old.isEmpty && isOldest(old, own, group) {
                    problems.append("refused though there is room")
                }
            case .taken(let other):
                counted["taken"] = last
                if isOver { problems.append("more than one address may have") }
                guard let other else {
                    if taken >= room { problems.append("taken without room") }
                    return
                }
                counted["displaced", default: 0] += 1
                if old[other] == nil { problems.append("the wrong one went") }
                if old.keys.min() != other { problems.append("not the oldest went") }
                live[other] = nil
            }
        }

        /// Of those that may go at all the oldest had its time: it alone is looked at.
        func isOldest(_ old: [UInt64: Connection], _ own: UInt64?, _ group: AddressGroup?) -> Bool {
            let all = live.filter { number, other in
                number != own && !other.isProvider && (isGood(group) || !isGood(other.group))
            }
            return all.keys.min() == old.keys.min()
        }

        mutating func setUp() {
            guard let number = any(where: { !$0.isSetUp && $0.isNamed }) else { return }
            live[number]?.isSetUp = true
            door.wasSetUp(number)
        }

        mutating func prove() {
            guard let number = any(where: { $0.isSetUp }), let group = live[number]?.group else {
                return
            }
            live[number]?.isProvider = true
            good.insert(group)
            door.keepsPlace(number)
        }

        mutating func name() {
            guard let number = any(where: { !$0.isNamed }) else { return }
            let group = anyGroup()
            let arrival = door.named(number, as: group, at: now)
            check(arrival, of: group, beside: live.count - 1, not: number)
            if arrival == .refused {
                live[number] = nil
                door.left(number, .closed)
            } else {
                live[number]?.group = group
                live[number]?.isNamed = true
            }
        }

        mutating func leave() {
            guard let number = any(where: { _ in true }) else { return }
            live[number] = nil
            door.left(number, random.below(2) == 0 ? .closed : .misspoke(isFlood: true))
            door.left(number, .tooSlow)
        }

        mutating func runOut() {
            counted["without", default: 0] += 1
            if let other = door.cannotAccept(at: now) {
                counted["displaced", default: 0] += 1
                if live[other]?.isProvider != false { problems.append("one of a provider went") }
                live[other] = nil
            }
        }
    }

    @Test func `who is refused had no right to a place, and who goes had shown nothing`() {
        var totals: [String: UInt64] = [:]
        for seed in 1...20 as ClosedRange<UInt64> {
            var world = World(random: SeededRandom(seed: seed))
            for _ in 0..<4000 { world.step() }
            #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.prefix(5))")
            let counters = world.door.counters
            #expect(counters.displaced == world.counted["displaced"])
            #expect(counters.connections == world.counted["connections"])
            #expect(counters.connections == counters.ended + UInt64(world.live.count))
            #expect(counters.floods == counters.protocolErrors && counters.slowRequests == 0)
            totals["refused", default: 0] += counters.refusedConnections
            totals["over", default: 0] += counters.overAddress
            totals["floods", default: 0] += counters.floods
        }
        #expect(totals.values.allSatisfy { $0 > 1000 }, "\(totals)")
    }

    @Test func `one that is named does not make room for itself`() {
        var limits = Self.limits()
        var door = SenderDoor(limits)
        for number in 1...3 as ClosedRange<UInt64> {
            let arrival = door.arrived(number, from: nil, at: BootTime(nanoseconds: 0))
            #expect(arrival == .taken(instead: nil))
        }
        // The operator allows fewer meanwhile.
        limits.connections = 2
        door.limits = limits
        let later = BootTime(nanoseconds: 60_000_000_000)
        let arrival = door.named(1, as: nil, at: later)
        #expect(arrival == .taken(instead: 2))
    }

    @Test func `one whose certificate is revoked makes room again`() {
        var limits = Self.limits()
        limits.connections = 1
        var door = SenderDoor(limits)
        let start = BootTime(nanoseconds: 0)
        let later = BootTime(nanoseconds: 60_000_000_000)
        _ = door.arrived(1, from: Self.group(1), at: start)
        door.wasSetUp(1)
        door.keepsPlace(1)
        let early = door.arrived(2, from: nil, at: later)
        #expect(early == .refused)
        door.makesRoom(1)
        let next = door.arrived(2, from: nil, at: later)
        #expect(next == .taken(instead: 1))
    }

    // MARK: Floods

    @Test func `frames for nothing are a flood, those that come with requests are not`() {
        var meter = FloodMeter()
        var pings = SenderTraffic()
        pings.frames = 500
        let pinged = (0..<5).map { _ in meter.admits(pings) }
        #expect(pinged == [true, true, true, true, false])
        // Each request may bring headers, body, window updates and a ping.
        var request = SenderTraffic()
        (request.frames, request.openings, request.pieces, request.requests) = (10, 1, 1, 1)
        var honest = FloodMeter()
        let isWelcome = (0..<10_000).map { _ in honest.admits(request) }
        #expect(isWelcome.allSatisfy { $0 })
        // Of those credits no more are kept than a few floods take.
        let answers = (0..<25).map { _ in honest.admits(pings) }
        #expect(answers.last == false)
    }

    @Test func `header lists beyond the limit cost more, and a second forgives a little`() {
        var meter = FloodMeter()
        var wasted = SenderTraffic()
        (wasted.frames, wasted.openings, wasted.wastedHeaders) = (1, 1, 1)
        let answers = (0..<30).map { _ in meter.admits(wasted) }
        #expect(answers.firstIndex(of: false) == 20)
        for _ in 0..<60 { meter.secondPassed() }
        let isForgiven = meter.admits(wasted)
        #expect(isForgiven, "a minute of silence")
    }
}
