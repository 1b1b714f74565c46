/// How often something was seen of each of 64 apps, a number for each slot; forgotten slowly.
struct SlotCounts: Hashable, Sendable {
    static let slotCount = 64

    /// Empty: 0 for all.
    private var counts: [Double] = []

    var isValid: Bool { counts.allSatisfy(\.isAmount) }

    /// A slot that a record made up is one of ours all the same.
    subscript(slot: Int) -> Double {
        get { counts.isEmpty ? 0 : counts[slot & (Self.slotCount - 1)] }
        set {
            if counts.isEmpty { counts = [Double](repeating: 0, count: Self.slotCount) }
            counts[slot & (Self.slotCount - 1)] = newValue
        }
    }

    /// Multiplies all of them; their sum after that.
    @discardableResult
    mutating func forget(by factor: Double) -> Double {
        var sum = 0.0
        for slot in counts.indices {
            counts[slot] *= factor
            sum += counts[slot]
        }
        return sum
    }
}

/// A list that ends with the last count that is not 0; one of another length is cut or filled up.
extension SlotCounts: Codable {
    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        for slot in 0..<Self.slotCount where !list.isAtEnd {
            let count = try list.decode(Double.self)
            if count != 0 { self[slot] = count }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        let end = counts.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        for count in counts[..<end] { try list.encode(count) }
    }
}
