import Vocabulary

/// One measured figure, with what it is compared to and the limit that it must keep.
struct Figure {
    enum Limit {
        /// Of `ours / peer`.
        case ratio(Double)
        /// Of `ours`.
        case atMost(Double)
        case atLeast(Double)
    }

    var name: String
    var unit: String
    var ours: Double
    var peer: Double?
    var peerName: String?
    var limit: Limit?

    var ratio: Double? { peer.map { $0 > 0 ? ours / $0 : .infinity } }

    var ok: Bool {
        switch limit {
        case .none: true
        case .ratio(let limit): ratio.map { $0 <= limit } ?? false
        case .atMost(let limit): ours <= limit
        case .atLeast(let limit): ours >= limit
        }
    }

    /// As written to `.build/bench/GROUP.json`.
    var value: Value {
        var limitNumber: Value = .null
        switch limit {
        case .none: break
        case .ratio(let number), .atMost(let number), .atLeast(let number):
            limitNumber = .double(number)
        }
        return [
            "name": .string(name), "unit": .string(unit), "ours": .double(ours),
            "peer": peer.map { .double($0) } ?? .null,
            "peerName": peerName.map { .string($0) } ?? .null,
            "ratio": ratio.map { .double($0) } ?? .null, "limit": limitNumber, "ok": .bool(ok),
        ]
    }

    /// One line for people.
    var line: String {
        var text = "\(ok ? "ok  " : "MISS") \(name): \(Self.short(ours)) \(unit)"
        if let peer, let peerName {
            text += ", \(peerName) \(Self.short(peer)) \(unit)"
            if let ratio { text += ", ratio \(Self.short(ratio))" }
        }
        switch limit {
        case .none: break
        case .ratio(let limit): text += " (ratio at most \(Self.short(limit)))"
        case .atMost(let limit): text += " (at most \(Self.short(limit)))"
        case .atLeast(let limit): text += " (at least \(Self.short(limit)))"
        }
        return text
    }

    private static func short(_ number: Double) -> String {
        guard number.isFinite else { return "\(number)" }
        let scaled = (number * 100).rounded() / 100
        return scaled == scaled.rounded() ? "\(Int64(scaled))" : "\(scaled)"
    }
}

extension [Double] {
    /// The middle one; 0 of none.
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
