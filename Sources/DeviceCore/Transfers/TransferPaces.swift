import Vocabulary

extension Transfer {
    /// Once it has been ordered its server may have it. It is not ordered before it can be sent, so
    /// that none that has only waited is taken for one that may have arrived.
    var mayBeginAhead: Bool {
        guard case .upload(let request) = order.direction else { return true }
        return request.mayRepeat || upload?.resource != nil
    }
}

/// How quickly transfers from a host end. Small ones end before the next can be begun: its order
/// takes longer than its bytes. So some are begun ahead of a free connection, and wait for it in
/// the network process. Where one takes long, none is, for it could not be overtaken there.
package struct TransferPaces: Hashable, Sendable, Codable {
    /// At most so many are begun ahead. With a third of it, the network process would have nothing
    /// to do while the daemon commits what has ended.
    package static let mostAhead = 96
    /// As many as end in this time: nothing else of the host can overtake them.
    private static let span = Interval.milliseconds(1_300)
    /// None, if the last so many took longer than this to end.
    private static let needed = 6
    private static let window = Interval.milliseconds(250)
    /// Of other hosts nothing is known.
    private static let mostHosts = 8

    private struct Pace: Hashable, Sendable, Codable {
        let host: String
        /// When all bytes of the last ones were there.
        var ends: [BootTime]
    }

    /// That of which one has ended last is the first.
    private var paces: [Pace] = []

    mutating func ended(from host: Substring, at now: BootTime) {
        var pace = Pace(host: String(host), ends: [])
        if let index = paces.firstIndex(where: { $0.host == host }) {
            pace = paces.remove(at: index)
        }
        if pace.ends.count == Self.needed { pace.ends.removeFirst() }
        pace.ends.append(now)
        paces.insert(pace, at: 0)
        if paces.count > Self.mostHosts { paces.removeLast() }
    }

    func ahead(from host: some StringProtocol, at now: BootTime) -> Int {
        guard let pace = paces.first(where: { $0.host == host }), pace.ends.count == Self.needed,
            let first = pace.ends.first, now - first <= Self.window
        else { return 0 }
        let soon = Int64(Self.needed) * Self.span.nanoseconds
        return Int(min(soon / max((now - first).nanoseconds, 1), Int64(Self.mostAhead)))
    }
}
