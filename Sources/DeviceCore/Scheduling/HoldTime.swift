package import Vocabulary

/// A gate that holds, or held, an app's requests.
package struct HoldTime: Hashable, Sendable, Codable {
    package var gate: Gate
    package var since: WallTime
    /// Nil: it holds still.
    package var until: WallTime?

    package init(gate: Gate, since: WallTime, until: WallTime? = nil) {
        (self.gate, self.since, self.until) = (gate, since, until)
    }
}

extension [HoldTime] {
    /// How many that no longer hold are remembered of an app; of each gate the last.
    private static var memory: Int { 8 }

    mutating func change(from old: GateSet, to new: GateSet, at now: WallTime) {
        var closed = old
        closed.subtract(new)
        if !closed.isEmpty {
            for index in indices where self[index].until == nil && closed.contains(self[index].gate)
            {
                self[index].until = now
            }
            keepLast()
        }
        var added = new.bits & ~old.bits
        while added != 0 {
            let gate = GateTable.rows[added.trailingZeroBitCount].gate
            append(HoldTime(gate: gate, since: now))
            added &= added - 1
        }
        while count(where: { $0.until != nil }) > Self.memory {
            guard let oldest = firstIndex(where: { $0.until != nil }) else { return }
            remove(at: oldest)
        }
    }

    private mutating func keepLast() {
        var index = 0
        while index < count {
            let entry = self[index]
            let isOver =
                entry.until != nil
                && self[(index + 1)...].contains { $0.gate == entry.gate && $0.until != nil }
            if isOver { remove(at: index) } else { index += 1 }
        }
    }
}
