import Vocabulary

/// What senders were answered since the start, for the metrics.
package struct SenderCounters: Sendable {
    /// By the place of the reason in the list of all.
    private var refused = [UInt64](repeating: 0, count: Reason.allCases.count)
    private var refusedWebPushes = [UInt64](repeating: 0, count: WebPushReason.allCases.count)
    /// From a whole request to the answer that its push was accepted.
    package private(set) var acceptanceTimes = LatencyHistogram()
    private var keys: [Key] = []
    private var waiting: [CallID: Request] = [:]

    /// One whose answer will be counted.
    private struct Request {
        let kind: Kind
        let key: KeyPlace?
    }

    /// What became of the pushes of one provider key.
    package struct Key: Equatable, Sendable {
        package let id: String
        package fileprivate(set) var accepted: UInt64 = 0
        package fileprivate(set) var refused: UInt64 = 0
    }

    /// By which a key's counters are found without a search. It stays the same for as long as the
    /// gateway runs: operators do not make many keys.
    package typealias KeyPlace = Int

    enum Kind: Sendable {
        case push
        case broadcast
        case webPush
    }

    init() {}

    // MARK: Counting

    mutating func place(of key: String) -> KeyPlace {
        if let place = keys.firstIndex(where: { $0.id == key }) { return place }
        keys.append(Key(id: key))
        return keys.count - 1
    }

    /// A request was taken, and its answer will be counted for this key; nil: for none.
    mutating func took(_ call: CallID, _ kind: Kind, key: KeyPlace?) {
        waiting[call] = Request(kind: kind, key: key)
    }

    mutating func answered(_ call: CallID, _ answer: Answer) {
        guard let request = waiting.removeValue(forKey: call) else { return }
        switch (answer, request.kind) {
        case (.accepted, .push):
            if let key = request.key { keys[key].accepted += 1 }
        case (.accepted, .broadcast), (.accepted, .webPush): break
        case (.refused(let reason, _), .push): refusedPush(reason, key: request.key)
        case (.refused(let reason, _), .broadcast): refused(reason)
        case (.refused(let reason, _), .webPush): refused(WebPushReason(reason))
        }
    }

    mutating func refusedPush(_ reason: Reason, key: KeyPlace?) {
        refused(reason)
        if let key { keys[key].refused += 1 }
    }

    /// A request was refused that is about no push.
    mutating func refused(_ reason: Reason) {
        if let place = Reason.allCases.firstIndex(of: reason) { refused[place] += 1 }
    }

    mutating func refused(_ reason: WebPushReason) {
        if let place = WebPushReason.allCases.firstIndex(of: reason) {
            refusedWebPushes[place] += 1
        }
    }

    /// A push was accepted, so long after its request had come.
    mutating func accepted(after time: Interval) { acceptanceTimes.record(time) }

    // MARK: Reading

    /// How many requests were refused, by reason; those that were not are left out.
    package var refusals: [(reason: Reason, count: UInt64)] {
        zip(Reason.allCases, refused).filter { $1 > 0 }.map { ($0, $1) }
    }

    package var webPushRefusals: [(reason: WebPushReason, count: UInt64)] {
        zip(WebPushReason.allCases, refusedWebPushes).filter { $1 > 0 }.map { ($0, $1) }
    }

    /// Of these keys, in the order of their ids.
    package func keys(_ ids: [String]) -> [Key] {
        ids.sorted().map { id in keys.first { $0.id == id } ?? Key(id: id) }
    }
}
