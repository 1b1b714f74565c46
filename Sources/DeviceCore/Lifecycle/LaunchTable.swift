import Vocabulary

/// The live launches, in the order in which they began, with what each of them claims. Finding,
/// adding and removing one takes constant time.
struct LaunchTable: Sendable {
    /// What was removed leaves a gap, until half of the list is gaps.
    private var entries: [Entry?] = []
    private var places: [LaunchID: Int] = [:]
    /// By claim, how many have it.
    private var counts = [Int](repeating: 0, count: LaunchClaims.count)

    struct Entry: Hashable, Sendable, Codable {
        let launch: LaunchID
        /// The index of its app.
        let app: Int
        fileprivate(set) var claims: LaunchClaims
        fileprivate(set) var openers: [WaitingOpener] = []
    }

    init() {}

    var count: Int { places.count }

    func app(of launch: LaunchID) -> Int? { places[launch].flatMap { entries[$0]?.app } }

    func contains(_ launch: LaunchID) -> Bool { places[launch] != nil }

    /// How many have a claim.
    func count(_ claim: LaunchClaims) -> Int {
        counts[claim.rawValue.trailingZeroBitCount]
    }

    mutating func append(_ launch: LaunchID, app: Int, _ claims: LaunchClaims) {
        places[launch] = entries.count
        entries.append(Entry(launch: launch, app: app, claims: claims))
        count(from: [], to: claims)
    }

    mutating func change(_ launch: LaunchID, to claims: LaunchClaims) {
        guard let place = places[launch], let entry = entries[place] else { return }
        guard entry.claims != claims else { return }
        entries[place]?.claims = claims
        count(from: entry.claims, to: claims)
    }

    func hasOpeners(_ launch: LaunchID) -> Bool {
        places[launch].flatMap { entries[$0]?.openers.isEmpty } == false
    }

    mutating func append(_ openers: [WaitingOpener], to launch: LaunchID) {
        if let place = places[launch] { entries[place]?.openers += openers }
    }

    mutating func removeOpeners(of launch: LaunchID) -> [WaitingOpener] {
        guard let place = places[launch], let openers = entries[place]?.openers else { return [] }
        entries[place]?.openers = []
        return openers
    }

    /// Returns what it claimed until now.
    @discardableResult
    mutating func remove(_ launch: LaunchID) -> LaunchClaims {
        guard let place = places.removeValue(forKey: launch), let entry = entries[place] else {
            return []
        }
        entries[place] = nil
        count(from: entry.claims, to: [])
        if entries.count > 2 * places.count { closeGaps() }
        return entry.claims
    }

    private mutating func closeGaps() {
        entries.removeAll { $0 == nil }
        for (place, entry) in entries.enumerated() {
            if let entry { places[entry.launch] = place }
        }
    }

    private mutating func count(from old: LaunchClaims, to new: LaunchClaims) {
        for bit in counts.indices {
            counts[bit] += Int(new.rawValue >> bit & 1) - Int(old.rawValue >> bit & 1)
        }
    }
}

extension LaunchTable: Sequence {
    struct Iterator: IteratorProtocol {
        fileprivate var entries: IndexingIterator<[Entry?]>

        mutating func next() -> Entry? {
            while let entry = entries.next() {
                if let entry { return entry }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(entries: entries.makeIterator()) }
}

extension LaunchTable: Hashable, Codable {
    static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

    func hash(into hasher: inout Hasher) { for entry in self { hasher.combine(entry) } }

    init(from decoder: any Decoder) throws {
        for entry in try [Entry](from: decoder) {
            append(entry.launch, app: entry.app, entry.claims)
            append(entry.openers, to: entry.launch)
        }
    }

    func encode(to encoder: any Encoder) throws { try Array(self).encode(to: encoder) }
}

/// Who opens an app, until it is known whether it was started: waits to hear of it, or to become
/// its process.
struct WaitingOpener: Hashable, Sendable, Codable {
    let reply: ReplyToken
    let attaches: Bool
}

/// What a launch is counted for among all, as of its last change.
struct LaunchClaims: OptionSet, Hashable, Sendable, Codable {
    let rawValue: UInt8

    /// It has a run.
    static let run = LaunchClaims(rawValue: 1)
    /// Its run is one of those of which few go on at once.
    static let heavyRun = LaunchClaims(rawValue: 2)
    /// Its run is to end: it is not one that the user looks at.
    static let timedRun = LaunchClaims(rawValue: 4)
    /// The user looks at it.
    static let foreground = LaunchClaims(rawValue: 8)
    /// The screen is to stay on for it.
    static let screen = LaunchClaims(rawValue: 16)

    static let count = 5
}

extension Launch {
    /// The user looks at it.
    var isForeground: Bool { presence == .foreground && role == .main }
}

extension LaunchClaims {
    /// `wantsScreen`: its app wants the screen to stay on while the user looks at this launch.
    init(of launch: Launch, wantsScreen: Bool) {
        var claims: LaunchClaims = []
        if let wake = launch.wake {
            claims.insert(.run)
            if wake.trigger.grant.isHeavy { claims.insert(.heavyRun) }
            if wake.end != .distantFuture { claims.insert(.timedRun) }
        }
        if launch.isForeground {
            claims.insert(.foreground)
            if wantsScreen, launch.ending == nil { claims.insert(.screen) }
        }
        self = claims
    }
}
