import GatewayCore
import Vocabulary

/// A crowd before the devices' port: devices that were here before, new ones, and strangers that
/// come and prove nothing. It does what `LinkDoor` orders, as the shell does, and counts for
/// itself.
struct LinkDoorWorld {
    struct Link {
        enum Stage { case waiting, begun, proved }

        let isHonest: Bool
        let isKnown: Bool
        /// Nil: exempt, or not known yet.
        var group: AddressGroup?
        /// Whom the load balancer will name.
        var behindProxy: AddressGroup?
        var stage = Stage.waiting
        var times = LinkTimes()
        /// When it is done with its handshake.
        var doneAt: Int64 = .max
    }

    /// A device that wants in, since then.
    struct Visitor: Equatable {
        var isHonest: Bool
        var isKnown: Bool
        var group: AddressGroup?
        var isProxied: Bool
        /// When it came to the end of the queue, behind so many others.
        var since: Int64 = 0
        var ahead = 0
    }

    var problems: [String] = []
    var counts: [String: Int] = [:]
    private var random: SeededRandom
    private var door: LinkDoor
    private let limits: LinkLimits
    private var second: Int64 = 1000
    private var links: [LinkID: Link] = [:]
    private var queue: [Visitor] = []
    private var comingBack: [(at: Int64, visitor: Visitor)] = []
    private var isAccepting = true
    private var lacksDescriptor = false
    private var alarm: Int64?
    private var lastLink: UInt64 = 0
    private var counted = LinkCounters()
    /// Since when each waits, and by when it is served at the latest if its address is good.
    private var waits: [LinkID: (since: Int64, end: Int64)] = [:]
    /// Of this second.
    private var welcomes = 0
    /// Where devices were welcome that were here before.
    private var good: [AddressGroup: Int64] = [:]

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        var limits = LinkLimits()
        limits.connections = 120
        limits.handshakes = 32
        limits.handshakeTime = .seconds(40)
        limits.perAddress = 12
        limits.handshakesPerAddress = 6
        limits.welcomesPerSecond = 4
        limits.newDevices = 5
        self.limits = limits
        door = LinkDoor(limits)
    }

    mutating func run(seconds: Int) {
        for _ in 0..<seconds {
            comers()
            accept()
            live()
            check()
            second += 1
            welcomes = 0
            if let alarm, alarm <= second {
                self.alarm = nil
                door.passed(at: second)
                perform()
            }
            check()
        }
    }

    private func group(_ number: UInt64) -> AddressGroup {
        AddressGroup(IPAddress(high: 0x2001_0DB8_0000_0000 | number, low: 1))
    }

    // MARK: Who comes

    private mutating func comers() {
        for (at, visitor) in comingBack where at <= second { enqueue(visitor) }
        comingBack.removeAll { $0.at <= second }
        // Now and then a crowd of strangers, each from an address of its own.
        let strangers = second % 60 < 30 ? random.below(40) : random.below(2)
        for _ in 0..<strangers {
            add(isHonest: false, isKnown: false, group(1000 + random.below(1 << 16)))
        }
        if random.below(3) == 0 {
            add(isHonest: true, isKnown: true, group(random.below(20)))
        }
        if random.below(4) == 0 {
            add(isHonest: true, isKnown: false, group(100 + random.below(4)))
        }
        if random.below(40) == 0 { add(isHonest: true, isKnown: true, nil) }
        // All that were here come back at once, after the gateway was restarted.
        guard second % 200 == 0 else { return }
        for _ in 0..<60 { add(isHonest: true, isKnown: true, group(random.below(20))) }
    }

    private mutating func add(isHonest: Bool, isKnown: Bool, _ group: AddressGroup?) {
        enqueue(
            Visitor(
                isHonest: isHonest,
                isKnown: isKnown,
                group: group,
                isProxied: random.below(5) == 0
            )
        )
    }

    private mutating func enqueue(_ visitor: Visitor) {
        var visitor = visitor
        (visitor.since, visitor.ahead) = (second, queue.count)
        queue.append(visitor)
    }

    /// Within so many seconds a device of a good address is served or told to come back. An eighth
    /// of the places is for those, and each of these is free again after a handshake, which takes
    /// two seconds at most: so many of those ahead go each time, which are the queue and the line;
    /// the line is as long as there are places. Then it may have to wait for a stranger to make
    /// room, which it does after a tenth of its time, at the next look.
    private func longestWait(behind ahead: Int) -> Int64 {
        let (handshake, places) = (2, limits.handshakes / 8)
        let turn = limits.handshakeTime.wholeSeconds / 10 + 1
        return Int64((ahead + limits.handshakes) * handshake / places + handshake) + turn
    }

    private mutating func accept() {
        guard isAccepting, !queue.isEmpty else { return }
        for round in 0..<64 {
            guard door.mayAccept(isFirst: round == 0, at: second) else { break }
            guard !queue.isEmpty else { break }
            if random.below(300) == 0 {
                count("no descriptor")
                counted.unaccepted += 1
                lacksDescriptor = true
                door.cannotAccept(at: second)
                break
            }
            take(queue.removeFirst())
        }
        perform()
    }

    private mutating func take(_ visitor: Visitor) {
        lastLink += 1
        let id = LinkID(lastLink)
        let group = visitor.isProxied ? nil : visitor.group
        let isTaken = door.arrived(id, from: group, at: second)
        if isTaken == isOverAddress(group) {
            problems.append("\(isTaken ? "taken over" : "refused below") an address's limit")
        }
        guard isTaken else {
            counted.overAddress += 1
            return comeBack(visitor)
        }
        counted.accepted += 1
        var link = Link(isHonest: visitor.isHonest, isKnown: visitor.isKnown, group: group)
        if visitor.isProxied { link.behindProxy = visitor.group }
        link.times.mustProve(limits, at: second)
        links[id] = link
        waits[id] = (visitor.since, visitor.since + longestWait(behind: visitor.ahead))
        if random.below(100) == 0 {
            counted.failed += 1
            leave(id, .failed)
        }
        perform()
    }

    private mutating func comeBack(_ visitor: Visitor, after seconds: Int64 = 3) {
        if visitor.isHonest { comingBack.append((second + seconds, visitor)) }
    }

    private func isOverAddress(_ group: AddressGroup?) -> Bool {
        guard let group else { return false }
        let own = links.values.filter { $0.group == group }
        return own.count >= limits.perAddress
            || own.count { $0.stage != .proved } >= limits.handshakesPerAddress
    }

    // MARK: What links do

    private mutating func live() {
        for id in links.keys.sorted() {
            guard let link = links[id] else { continue }
            if link.stage == .begun, let client = link.behindProxy {
                links[id]?.behindProxy = nil
                guard name(id, client) else { continue }
            }
            guard let link = links[id] else { continue }
            if link.stage == .begun, link.isHonest, link.doneAt <= second {
                prove(id)
            } else if link.stage == .proved, random.below(30) == 0 {
                count("goodbyes")
                leave(id, .closed)
            } else if link.stage != .proved, link.times.ending(limits, at: second) != nil {
                count("too slow")
                counted.tooSlow += 1
                retry(id)
                leave(id, .tooSlow)
            }
        }
    }

    private mutating func name(_ id: LinkID, _ client: AddressGroup) -> Bool {
        count("named")
        let isOver = isOverAddress(client)
        if isOver { counted.overAddress += 1 } else { links[id]?.group = client }
        if isOver { retry(id) }
        let goesOn = door.named(id, as: client, at: second)
        if isOver, goesOn { problems.append("\(id) goes on over the limit of its address") }
        perform()
        if goesOn, links[id]?.stage != .begun { problems.append("\(id) goes on without a place") }
        return goesOn
    }

    private mutating func prove(_ id: LinkID) {
        guard let link = links[id] else { return }
        if door.setUp(id, at: second) != nil {
            count("sent away")
            if welcomes < limits.welcomesPerSecond, links.count <= limits.connections {
                problems.append("\(id) is sent away in a second with \(welcomes) welcomes")
            }
            counted.sentAway += 1
            retry(id)
            return leave(id, .sentAway)
        }
        welcomes += 1
        if !link.isKnown {
            let now = BootTime(nanoseconds: second * 1_000_000_000)
            let knowsSecret = random.below(4) > 0
            if let ending = door.refusal(ofNew: id, knowsSecret: knowsSecret, at: now) {
                counted.unenrolled += 1
                if knowsSecret, ending.reason != .busy { problems.append("\(id): \(ending)") }
                return leave(id, .closed)
            }
            if !knowsSecret { problems.append("\(id) is new, and knows no secret") }
        }
        count("welcomed")
        counted.welcomed += 1
        links[id]?.stage = .proved
        if link.isKnown, let group = link.group, let wait = waits[id] {
            if good[group].map({ $0 <= wait.since }) ?? false {
                count("good ones in time")
                if second > wait.end { problems.append("\(id) waits until \(second): \(wait)") }
            }
            good[group] = good[group] ?? second
        }
        door.welcomed(id, isNew: !link.isKnown, at: second)
        perform()
    }

    /// It was not its own fault: the device tries again.
    private mutating func retry(_ id: LinkID) {
        guard let link = links[id] else { return }
        comeBack(
            Visitor(
                isHonest: link.isHonest,
                isKnown: link.isKnown,
                group: link.group ?? link.behindProxy,
                isProxied: false
            )
        )
    }

    private mutating func leave(_ id: LinkID, _ why: LinkDeparture) {
        guard links.removeValue(forKey: id) != nil else { return }
        counted.ended += 1
        door.left(id, why, at: second)
        perform()
    }

    // MARK: What the door orders

    private mutating func perform() {
        while let order = door.next() { perform(order) }
    }

    private mutating func perform(_ order: LinkOrder) {
        switch order {
        case .begin(let id):
            guard let stage = links[id]?.stage else { return }
            if stage != .waiting { problems.append("\(id) begins twice") }
            links[id]?.stage = .begun
            links[id]?.doneAt = second + Int64(random.below(2))
            links[id]?.times.mustProve(limits, at: second)
        case .hold(let id):
            count("held")
            if links[id]?.stage != .begun { problems.append("\(id) is held and had no place") }
            links[id]?.stage = .waiting
        case .close(let id):
            guard let link = links[id] else { return }
            if link.stage == .proved { problems.append("\(id) has proved itself, and is closed") }
            // Over its address's limit, or to make room.
            if !isOverNamed(link) { counted.displaced += 1 }
            if link.isHonest { count("honest ones displaced") }
            retry(id)
            links[id] = nil
            counted.ended += 1
        case .accept(let isOn):
            isAccepting = isOn
            if isOn { lacksDescriptor = false } else if !lacksDescriptor { count("full") }
        case .look(let at):
            if alarm != nil { problems.append("two alarms") }
            alarm = at
        }
    }

    private func isOverNamed(_ link: Link) -> Bool { link.group == nil && link.stage == .begun }

    private mutating func count(_ what: String) { counts[what, default: 0] += 1 }

    // MARK: What must hold

    private mutating func check() {
        let waiting = links.values.count { $0.stage == .waiting }
        let begun = links.values.count { $0.stage == .begun }
        if begun > limits.handshakes { problems.append("\(begun) are on their way at once") }
        if waiting > limits.handshakes { problems.append("\(waiting) stand in the line") }
        if door.count != links.count || door.lineCount != waiting {
            problems.append("\(door.count), \(door.lineCount); not \(links.count), \(waiting)")
        }
        let hasRoom = begun < limits.handshakes - limits.handshakes / 8
        if hasRoom, waiting > 0 { problems.append("\(waiting) wait though there are places") }
        if !isAccepting, alarm == nil || begun < limits.handshakes && !lacksDescriptor {
            problems.append("nobody is accepted, and nothing will change that")
        }
        if waiting > 0, alarm == nil { problems.append("\(waiting) wait, and nobody looks again") }
        counts["most in line"] = max(counts["most in line", default: 0], waiting)
        if door.counters != counted { problems.append("\(door.counters), not \(counted)") }
        if problems.count > 5 { problems.removeLast(problems.count - 5) }
    }
}
