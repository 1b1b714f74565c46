import GatewayCore
import Vocabulary

/// The doors of both ports, in front of the driver.
struct WorldDoors {
    enum Stage { case waiting, begun, proved }

    var links: LinkDoor
    var senders: SenderDoor
    /// Connections at the devices' port.
    private(set) var stages: [LinkID: Stage] = [:]
    private(set) var provedCount = 0
    /// Whose they are; not here: a stranger's.
    var owners: [LinkID: Int] = [:]
    /// Over which somebody waits to be told who it is.
    var arriving: [OperationID: LinkID] = [:]
    /// Those that may become devices.
    var allowed: Set<[UInt8]> = []
    var isAccepting = true
    var isObeying = false
    var alarm: Int64?
    /// Connections of strangers at the providers' ports.
    var strangers: [UInt64] = []

    init(devices count: Int) {
        var limits = LinkLimits()
        // Small, so that they are reached.
        (limits.handshakes, limits.connections) = (6, 2 * count + 4)
        (limits.perAddress, limits.handshakesPerAddress) = (5, 3)
        limits.welcomesPerSecond = 8
        (limits.newDevices, limits.newDeviceRefill) = (2, .minutes(10))
        links = LinkDoor(limits)
        var others = SenderLimits()
        others.connections = 6
        senders = SenderDoor(others)
    }

    mutating func set(_ link: LinkID, _ stage: Stage?) {
        if stages[link] == .proved { provedCount -= 1 }
        stages[link] = stage
        if stage == .proved { provedCount += 1 }
        if stage == nil { owners[link] = nil }
    }
}

/// One connection of somebody who sends: by a key, by a certificate, or Web Push.
struct WorldSender {
    /// Nil: it has to connect first.
    var number: UInt64?
    var sender = PushSender()
    /// It is a provider's that the operator knows, and was not revoked since.
    var isKept = false
}

/// Who comes in, and who is sent away.
extension GatewayWorld {
    private var second: Int64 { now.boot.nanoseconds / 1_000_000_000 }

    private func group(_ number: UInt64) -> AddressGroup {
        AddressGroup(IPAddress(high: 0x2001_0DB8_0000_0000 | number, low: 1))
    }

    // MARK: Devices

    /// A device connects, or a stranger.
    mutating func come(_ index: Int?) {
        guard doors.isAccepting else { return }
        guard doors.links.mayAccept(isFirst: true, at: second) else { return obey() }
        let link = LinkID(serial())
        let own = group(index.map { UInt64($0) } ?? 1000 + random.below(1000))
        if doors.links.arrived(link, from: own, at: second) {
            doors.set(link, .waiting)
            doors.owners[link] = index
        }
        obey()
    }

    private mutating func obey() {
        guard !doors.isObeying else { return }
        doors.isObeying = true
        defer { doors.isObeying = false }
        while let order = doors.links.next() { obey(order) }
    }

    private mutating func obey(_ order: LinkOrder) {
        switch order {
        case .begin(let link): begin(link)
        // Nobody is behind a load balancer.
        case .hold: break
        case .close(let link):
            if doors.stages[link] == .proved { report(.doors, "\(link) is known, and closed") }
            forget(link)
        case .accept(let isOn): doors.isAccepting = isOn
        case .look(let at): doors.alarm = at
        }
    }

    private mutating func begin(_ link: LinkID) {
        guard doors.stages[link] != nil else { return }
        doors.set(link, .begun)
        // A stranger says nothing.
        guard let index = doors.owners[link] else { return }
        if doors.links.setUp(link, at: second) != nil { return leave(link, .sentAway) }
        let operation = OperationID(serial())
        devices[index].identifying.append(operation)
        doors.arriving[operation] = link
        feed(.identify(operation, key: devices[index].key))
    }

    mutating func enrol(_ operation: OperationID, _ key: [UInt8]) {
        guard let link = doors.arriving[operation] else { return }
        let refusal = doors.links.refusal(ofNew: link, knowsSecret: true, at: now.boot)
        guard refusal == nil else {
            count("not enrolled")
            return leave(link, .closed)
        }
        doors.allowed.insert(key)
        feed(.enrol(operation, key: key))
    }

    /// The link over which somebody is told who it is; nil: it is gone.
    mutating func welcome(_ operation: OperationID, _ who: IdentifiedDevice?) -> LinkID? {
        guard let link = doors.arriving.removeValue(forKey: operation) else { return nil }
        guard let who, let index = doors.owners[link] else {
            leave(link, .sentAway)
            return nil
        }
        if who.isNew, !doors.allowed.contains(devices[index].key) {
            report(.enrolledUnasked, "\(who.device) was made, and nobody allowed it")
        }
        doors.set(link, .proved)
        doors.links.welcomed(link, isNew: who.isNew, at: second)
        obey()
        return link
    }

    mutating func leave(_ link: LinkID, _ why: LinkDeparture) {
        guard doors.stages[link] != nil else { return }
        forget(link)
        doors.links.left(link, why, at: second)
        obey()
    }

    private mutating func forget(_ link: LinkID) {
        if doors.stages[link] == .begun, let index = doors.owners[link],
            let operation = devices[index].identifying.first(where: { doors.arriving[$0] == link })
        {
            devices[index].identifying.removeAll { $0 == operation }
            doors.arriving[operation] = nil
        }
        doors.set(link, nil)
    }

    /// Time passed at the doors; strangers come and go.
    mutating func stepDoors() {
        if let alarm = doors.alarm, alarm <= second {
            doors.alarm = nil
            doors.links.passed(at: second)
            obey()
        }
        if random.below(60) == 0 { come(nil) }
        if random.below(40) == 0 { strangerSends() }
        if doors.links.count != doors.stages.count {
            report(.doors, "\(doors.links.count) links, not \(doors.stages.count)")
        }
        let connected = senders.count { $0.number != nil } + doors.strangers.count
        if doors.senders.count != connected {
            report(.doors, "\(doors.senders.count) senders, not \(connected)")
        }
    }

    /// Who has a place as a known device is who the driver takes for connected.
    mutating func checkLinks() {
        let connected = driver.gateway.connectedCount
        guard connected != doors.provedCount else { return }
        report(.doors, "\(connected) devices are connected, \(doors.provedCount) have a link")
    }

    // MARK: Senders

    private mutating func strangerSends() {
        if doors.strangers.count > 3 {
            doors.senders.left(doors.strangers.removeFirst(), .closed)
        }
        let number = serial()
        if arrives(number, group(2000 + random.below(1000))) { doors.strangers.append(number) }
    }

    private mutating func arrives(_ number: UInt64, _ group: AddressGroup) -> Bool {
        guard case .taken(let other) = doors.senders.arrived(number, from: group, at: now.boot)
        else { return false }
        guard let other else { return true }
        doors.strangers.removeAll { $0 == other }
        for place in senders.indices where senders[place].number == other {
            count("displaced senders")
            if senders[place].isKept { report(.providerDisplaced, "\(other)") }
            senders[place] = WorldSender()
        }
        return true
    }

    /// Whether this one is connected, perhaps by now.
    mutating func isConnected(_ place: SenderPlace) -> Bool {
        if senders[place.rawValue].number != nil { return true }
        let number = serial()
        guard arrives(number, group(3000 + UInt64(place.rawValue))) else { return false }
        senders[place.rawValue].number = number
        doors.senders.wasSetUp(number)
        if place == .certificate {
            let certificate = ProviderCertificate(fingerprint: fingerprint, topics: apps + rareApps)
            senders[place.rawValue].sender.show(certificate, revoked: revokedAsTold)
            learn(place)
        }
        return true
    }

    /// After each request: what it showed of who sends.
    mutating func learn(_ place: SenderPlace) {
        let own = senders[place.rawValue]
        guard let number = own.number, own.sender.authorized == .provider else { return }
        senders[place.rawValue].isKept = true
        if !bug.forgetsProviders { doors.senders.keepsPlace(number) }
    }

    // MARK: Certificates

    /// Of the certificate that the provider has now.
    var fingerprint: String { "F\(certificates)" }

    private var revokedAsTold: Set<String> { bug.revoked?(revoked) ?? revoked }

    /// The operator revokes it, also where it is in use.
    mutating func revoke() {
        count("revoked certificates")
        revoked.insert(fingerprint)
        let place = SenderPlace.certificate.rawValue
        guard senders[place].sender.revoke(revokedAsTold), let number = senders[place].number
        else { return }
        senders[place].isKept = false
        doors.senders.makesRoom(number)
    }

    /// The provider was told that its certificate is none: it gets another, and connects anew.
    mutating func renewCertificate() {
        certificates += 1
        let place = SenderPlace.certificate.rawValue
        if let number = senders[place].number { doors.senders.left(number, .closed) }
        senders[place] = WorldSender()
    }
}

enum SenderPlace: Int { case key, certificate, webPush }
