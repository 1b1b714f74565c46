/// What many users have in common: trees fitted on logs of the use of other people's devices
/// (docs/prediction.md). They hold numbers of nobody in particular.
enum Prior {
    /// By tree: its nodes from the root on, with the children of node n at 2n and 2n + 1, so that
    /// the first is none. In the lowest byte of a node is its feature's index, its threshold above.
    private static let nodes: [Int32] = {
        let inner = leafCount - 1
        precondition(PriorTrees.values.count == PriorTrees.count * leafCount)
        var nodes: [Int32] = []
        for tree in 0..<PriorTrees.count {
            nodes.append(0)
            for index in tree * inner..<(tree + 1) * inner {
                let feature = PriorTrees.features[index]
                precondition(feature < UseFeatures.Name.allCases.count)
                nodes.append(shifted(PriorTrees.thresholds[index]) | Int32(feature))
            }
        }
        return nodes
    }()
    private static let leafCount = 1 << PriorTrees.depth

    /// Above the byte of the index. No feature is negative, or greater than what has room.
    private static func shifted(_ number: Int32) -> Int32 {
        max(0, min(number, Int32.max >> 8)) << 8
    }

    /// How likely an open is within 30 minutes.
    static func chance(_ features: UseFeatures) -> Double {
        // Some thousand times a day and app: nothing is checked that was checked above, and no
        // branch depends on a feature, as half of them would be foretold wrongly.
        var shifted = features.values
        for index in shifted.indices { shifted[index] = Self.shifted(shifted[index]) }
        let (trees, leaves) = (Self.nodes, PriorTrees.values)
        let (nodes, values, features) = (trees.span, leaves.span, shifted.span)
        var sum = PriorTrees.start
        for tree in 0..<PriorTrees.count {
            let first = tree &* leafCount
            var index = 1
            for _ in 0..<PriorTrees.depth {
                let node = unsafe nodes[unchecked: first &+ index]
                // The index below it makes no difference: equal is not above.
                let isAbove = unsafe features[unchecked: Int(node & 0xff)] > node
                index = index << 1 | (isAbove ? 1 : 0)
            }
            sum &+= Int32(unsafe values[unchecked: first &+ index &- leafCount])
        }
        return Arithmetic.logistic(Double(sum) / PriorTrees.scale)
    }
}
