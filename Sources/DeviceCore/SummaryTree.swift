/// What can be said of several values at once.
protocol Summary: Hashable, Sendable {
    /// Of no value.
    static var none: Self { get }

    mutating func merge(_ other: Self)
}

/// A list of values with a summary of each half, quarter, and so on. To change one value, and to
/// find the next one with a property, takes time by the logarithm of the count.
struct SummaryTree<Value: Summary>: Hashable, Sendable {
    /// The root is at 1, the children of `n` are at `2n` and `2n + 1`, and the last half is the
    /// list itself.
    private var nodes: [Value] = [.none, .none]
    private var capacity: Int { nodes.count / 2 }

    /// Of all values.
    var summary: Value { nodes[1] }

    subscript(_ index: Int) -> Value {
        get { nodes[capacity + index] }
        set {
            guard newValue != nodes[capacity + index] else { return }
            var node = capacity + index
            nodes[node] = newValue
            while node > 1 {
                node /= 2
                var merged = nodes[2 * node]
                merged.merge(nodes[2 * node + 1])
                guard merged != nodes[node] else { return }
                nodes[node] = merged
            }
        }
    }

    /// There is room for `count` values at least; new ones say nothing.
    mutating func makeRoom(for count: Int) {
        guard count > capacity else { return }
        var more = capacity
        while more < count { more *= 2 }
        let values = nodes[capacity...]
        nodes = Array(repeating: .none, count: more) + values
        nodes += Array(repeating: .none, count: 2 * more - nodes.count)
        for node in (1..<more).reversed() {
            nodes[node] = nodes[2 * node]
            nodes[node].merge(nodes[2 * node + 1])
        }
    }

    /// The first index with a property; nil: none has it. A summary must have the property exactly
    /// if a value under it has it.
    func first(where has: (Value) -> Bool) -> Int? {
        guard has(nodes[1]) else { return nil }
        var node = 1
        while node < capacity { node = has(nodes[2 * node]) ? 2 * node : 2 * node + 1 }
        return node - capacity
    }

    /// The indices of all values with a property, in order. A summary has it if a value under it
    /// has it.
    func indices(where has: (Value) -> Bool) -> [Int] {
        var found: [Int] = []
        append(under: 1, to: &found, where: has)
        return found
    }

    private func append(under node: Int, to found: inout [Int], where has: (Value) -> Bool) {
        guard has(nodes[node]) else { return }
        guard node < capacity else { return found.append(node - capacity) }
        append(under: 2 * node, to: &found, where: has)
        append(under: 2 * node + 1, to: &found, where: has)
    }
}
