import Vocabulary

/// A reason for which a trigger may have to wait: a row of the gate table.
package enum Gate: String, CaseIterable, Hashable, Sendable, Codable {
    case unknownApp, notPermitted, closedByUser, refreshOff, paused, beforeFirstUnlock
    case dataProtection, lowPower, earliest, quiet, network, metered, externalPower, battery,
        deviceInUse, appInForeground
    case thermal, memory, storage, unused, appQuota, deviceQuota, backOff, stillRunning
    case startPause, settling, betterMoment, sharedWake, runSlots
    case retry, answer, transferSlots, processes, stopping

    var row: GateRow { GateTable.row(self) }
    /// As users and programs name it: `before-first-unlock`.
    package var name: String {
        var name = ""
        for character in rawValue {
            if character.isUppercase { name.append("-") }
            name.append(contentsOf: character.lowercased())
        }
        return name
    }
}

/// Some gates, as one word.
struct GateSet: Hashable, Sendable, Codable {
    private(set) var bits: UInt64 = 0
    static let capacity = UInt64.bitWidth
    static let none = GateSet()
    static let runSlots = GateSet(.runSlots)
    static let unused = GateSet(.unused)
    static let deviceInUse = GateSet(.deviceInUse)
    /// What holds work that waits for its date, and then for its turn.
    static let ofDates = GateSet(.earliest, .runSlots)
    /// What the choice of a moment knows by itself.
    static let ofMoments = GateSet(
        .betterMoment,
        .sharedWake,
        .runSlots,
        .quiet,
        .earliest,
        .backOff,
        .startPause
    )
    /// What a refresh may be held by, and the choice of its moment does not know by itself.
    static let ofRefreshes: GateSet = {
        var gates = GateSet()
        for trigger in Trigger.allCases where trigger.spendsRefreshBudget {
            for question in GateTable.columns[trigger.column] { gates.insert(question.index) }
        }
        gates.bits &= ~ofMoments.bits
        return gates
    }()

    /// What ends a transfer that runs. Not the network: if that goes, the transfer notices by
    /// itself, and if it comes back at once, nothing is lost.
    static let endTransfers = GateSet(
        .closedByUser,
        .paused,
        .dataProtection,
        .lowPower,
        .metered,
        .externalPower,
        .battery,
        .thermal
    )

    init(_ gates: Gate...) {
        for gate in gates { insert(GateTable.index(of: gate)) }
    }

    mutating func insert(_ index: Int) { bits |= 1 << UInt64(index) }
    mutating func formUnion(_ other: GateSet) { bits |= other.bits }
    mutating func subtract(_ other: GateSet) { bits &= ~other.bits }
    func contains(_ gate: Gate) -> Bool { contains(GateTable.index(of: gate)) }
    func contains(_ row: GateRow) -> Bool { contains(row.index) }
    private func contains(_ index: Int) -> Bool { bits & 1 << UInt64(index) != 0 }
    func isSubset(of other: GateSet) -> Bool { bits & ~other.bits == 0 }
    func overlaps(_ other: GateSet) -> Bool { bits & other.bits != 0 }
    var isEmpty: Bool { bits == 0 }
}

/// When a gate that holds may open.
enum NextChance: Hashable, Sendable {
    case wall(WallTime)
    case boot(BootTime)
    /// When it is tried again, which may fail again.
    case attempt(BootTime)
    /// When something happens that is an event of its own.
    case event
    /// Somebody looks as soon as nothing else holds it.
    case look

    func boot(at now: Moment) -> BootTime {
        switch self {
        case .wall(let time): now.boot(of: time)
        case .boot(let time), .attempt(let time): time
        case .event: .distantFuture
        case .look: .distantPast
        }
    }
}

enum GateAnswer: Hashable, Sendable {
    case open
    case held(NextChance)

    static func held(until time: WallTime, at now: Moment) -> GateAnswer {
        now.wall >= time ? .open : .held(.wall(time))
    }
}

/// What a gate says to a person.
struct GateExplanation: Hashable, Sendable {
    /// What it sees now.
    var value: String
    /// What it must see to open.
    var needed: String
    var since: WallTime?
    /// Completes "NAME waits because …".
    var sentence: String
    /// What the user can do about it; empty: only what is needed helps.
    var fix = ""
}

extension GateExplanation {
    /// Of a gate that goes by one condition; they say so when no source tells of it.
    init(
        of condition: Condition,
        in conditions: Conditions,
        value: String,
        needed: String,
        sentence: String
    ) {
        let (state, row) = (conditions[condition], condition.row)
        self.init(value: value, needed: needed, since: state.since, sentence: sentence)
        switch state.sensing {
        case .known, .noDevice: return
        case .unknown:
            self.value = "unknown"
            self.sentence = "no source reports \(row.question)"
        case .lost:
            self.value += " (the sensor is lost)"
            self.sentence = "the source that reported \(row.question) is gone"
        }
        fix = "set it by hand: offstage set \(row.name) \(row.typed(row.harmless))"
    }

    /// Of a gate that holds since the last start failed.
    init(of block: StartBlock?, _ cause: StartFailure.Cause, needed: String) {
        let reason = block?.failure.reason ?? ""
        self.init(
            value: reason,
            needed: needed,
            since: block?.since,
            sentence: cause.sentence + (reason.isEmpty ? "" : " (\(reason))"),
            fix: cause.fix
        )
    }
}

/// What a gate may look at. Not copyable: it is large, and nobody keeps it.
struct GateContext: ~Copyable {
    let now: Moment
    let device: DeviceFacts
    let app: AppState
    var work: Work
    /// For words only: making it takes long.
    var forecast: RefreshForecast?

    var settings: Shared<Settings> { device.settings }
    var conditions: Conditions { device.conditions }

    /// Asks all gates about another piece of work of the app.
    mutating func holds(on next: Work) -> GateHolds {
        work = next
        return holds()
    }

    /// Asks all gates about the work. Changes nothing: for each question what is changed would be
    /// moved out of the way.
    func holds() -> GateHolds {
        var holds = GateHolds()
        var latest = BootTime.distantPast
        // By a span: an element would be copied to be asked.
        let questions = GateTable.columns[work.trigger.column]
        let span = questions.span
        for index in span.indices where span[index].kind.concerns(work, span[index].cell) {
            switch span[index].check(self) {
            case .open: break
            case .held(let chance):
                holds.gates.insert(span[index].index)
                latest = max(latest, chance.boot(at: now))
            }
        }
        // Else nothing but a look is missing, which is an event.
        if latest != .distantPast { holds.next = latest }
        return holds
    }
}

/// The gates that hold a piece of work now.
struct GateHolds {
    var gates = GateSet()
    /// When all of them may be open; distant future: not by time alone.
    var next = BootTime.distantFuture
    var isEmpty: Bool { gates.isEmpty }
}

/// What of the device a gate may look at. Not the device itself: it is large, and gates are asked
/// often.
struct DeviceFacts {
    let settings: Shared<Settings>
    let conditions: Conditions
    let pause: Device.Pause
    let pausedAt: WallTime?
    let ledger: Ledger
    let running: Device.Running
    let connections: ConnectionCounts
    let transferPaces: TransferPaces
    let seed: Int64
    let startedAt: BootTime
    let resumedAt: BootTime?
    /// When the machine's user counts as gone, since it is about to sleep; nil: it is not.
    let idleAfterSleep: BootTime?
    let startBlock: StartBlock?
    let stoppingSince: WallTime?
}

extension Device {
    /// A getter: the parameter of an initialiser would be a copy of the whole device.
    var facts: DeviceFacts {
        DeviceFacts(
            settings: settings,
            conditions: conditions,
            pause: pause,
            pausedAt: pausedAt,
            ledger: ledger,
            running: running,
            connections: transfers.connections,
            transferPaces: transfers.paces,
            seed: seed,
            startedAt: startedAt,
            resumedAt: sleep.end,
            idleAfterSleep: sleep.idleFrom(after: settings.idlePatience),
            startBlock: startBlock,
            stoppingSince: stoppingSince
        )
    }
}
