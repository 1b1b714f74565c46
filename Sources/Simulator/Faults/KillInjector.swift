import DeviceCore
import Vocabulary

/// What the driver does, one thing after the other, as far as a kill can come in between.
package enum EffectKind: Int, CaseIterable, Hashable, Sendable, Codable {
    case begin, save, spawn, attach, probe, cancelProbe, freeze, thaw, terminate, kill, release
    case measure, checkLocks, weigh, limitMemory, setDeadline, tell, holdAwake, watchIdle
    case inhibitIdle
    case sleepAgain, transfer
    case notifyFailures, watchUse, reply, arm, announce

    init(_ effect: Effect) {
        self =
            switch effect {
            case .save: .save
            case .spawn: .spawn
            case .attach: .attach
            case .probe: .probe
            case .cancelProbe: .cancelProbe
            case .freeze: .freeze
            case .thaw: .thaw
            case .terminate: .terminate
            case .kill: .kill
            case .release: .release
            case .measure: .measure
            case .checkLocks: .checkLocks
            case .weigh: .weigh
            case .limitMemory: .limitMemory
            case .setDeadline: .setDeadline
            case .tell: .tell
            case .holdAwake: .holdAwake
            case .inhibitIdle: .inhibitIdle
            case .sleepAgain: .sleepAgain
            case .watchIdle: .watchIdle
            case .notifyFailures: .notifyFailures
            case .watchUse: .watchUse
            case .transfer: .transfer
            case .reply: .reply
            case .arm: .arm
            case .announce: .announce
            }
    }
}

/// Two effects that followed each other.
package struct EffectPair: Hashable, Sendable, Codable, CustomStringConvertible {
    package var first: EffectKind
    package var second: EffectKind

    package var description: String { "\(first) → \(second)" }
}

/// Chooses where the daemon is killed: between any two things that it does. What is rare is chosen
/// more often than what is common.
package struct KillInjector {
    private static let kinds = EffectKind.allCases.count
    private var random: SeededRandom
    private var seen: [UInt32]
    private var killed: [UInt32]
    private(set) var last = EffectKind.begin
    /// Kills by chance; off in tests that say themselves when the daemon is killed.
    package var isArmed = false
    /// Kills here at the first opportunity, whatever chance says; then at the next, and so on.
    package var targets: [EffectPair] = []
    /// Stages of messages that were come to, and cuts at them.
    private var stagesSeen: [UInt32] = Array(repeating: 0, count: Message.count * 3)
    private var cutCounts: [UInt32] = Array(repeating: 0, count: MessageCut.count)
    /// The same as `targets`, of messages.
    package var messageTargets: [MessageCut] = []
    /// One in so many of the messages that come first is cut, less of those that follow.
    var rareness = 12

    enum Kill {
        case none, before
        /// In the middle of a commit, which landed or did not.
        case within(landed: Bool)
    }

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        seen = Array(repeating: 0, count: Self.kinds * Self.kinds)
        killed = seen
    }

    mutating func beginTurn() { last = .begin }

    mutating func kills(before next: EffectKind, _ swarm: inout Swarm) -> Kill {
        let index = last.rawValue * Self.kinds + next.rawValue
        seen[index] += 1
        let pair = EffectPair(first: last, second: next)
        var isKill = isArmed && random.below(8 * Int(seen[index])) == 0
        if targets.first == pair {
            isKill = true
            targets.removeFirst()
        }
        guard isKill else {
            last = next
            return .none
        }
        let kind = next == .save ? random.below(3) : 0
        guard swarm.allows() else {
            last = next
            return .none
        }
        killed[index] += 1
        return kind == 0 ? .before : .within(landed: kind == 1)
    }

    // MARK: Messages

    /// Who ends at this stage of a message; nil: nobody. `daemon`: it lives.
    mutating func cuts(
        _ message: Message,
        _ stage: MessageStage,
        _ swarm: inout Swarm,
        daemon isAlive: Bool
    ) -> MessageCut.Victim? {
        let index = message.index * 3 + stage.rawValue
        stagesSeen[index] += 1
        var cut: MessageCut?
        if let target = messageTargets.first, target.index / 3 == index {
            cut = target
        } else if isArmed, random.below(rareness * (Int(stagesSeen[index]) + 1)) == 0 {
            let victims = MessageCut.Victim.allCases
            cut = MessageCut(message, stage, victims[random.below(victims.count)])
        }
        guard let cut, isAlive || cut.victim != .daemon else { return nil }
        if cut == messageTargets.first { messageTargets.removeFirst() }
        guard swarm.allows() else { return nil }
        cutCounts[cut.index] += 1
        return cut.victim
    }

    /// All that could have been cut.
    package var cutsSeen: [MessageCut] {
        (0..<MessageCut.count).filter { stagesSeen[$0 / 3] > 0 }.map(MessageCut.init(index:))
    }
    package var cutsMade: [MessageCut] {
        (0..<MessageCut.count).filter { cutCounts[$0] > 0 }.map(MessageCut.init(index:))
    }

    // MARK: Effects

    package var pairsSeen: [EffectPair] { pairs(of: seen) }
    package var pairsKilled: [EffectPair] { pairs(of: killed) }

    private func pairs(of counts: [UInt32]) -> [EffectPair] {
        let kinds = EffectKind.allCases
        return counts.indices.filter { counts[$0] > 0 }.map {
            EffectPair(first: kinds[$0 / Self.kinds], second: kinds[$0 % Self.kinds])
        }
    }
}
