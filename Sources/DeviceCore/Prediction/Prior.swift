/// What many users have in common: trees fitted on logs of the use of other people's devices
/// (docs/prediction.md). They hold numbers of nobody in particular.
enum Prior {
    /// How likely an open is within 30 minutes.
    static func chance(_ features: UseFeatures) -> Double {
        let inner = (1 << PriorTrees.depth) - 1
        // Not checked each time, which is some thousand times a day and app: UsePriorTests does.
        let trees = (PriorTrees.features, PriorTrees.thresholds, PriorTrees.values)
        let (choices, thresholds, values) = (trees.0.span, trees.1.span, trees.2.span)
        var sum = PriorTrees.start
        for tree in 0..<PriorTrees.count {
            let root = tree * inner
            var node = 0
            for _ in 0..<PriorTrees.depth {
                let choice = unsafe choices[unchecked: root + node]
                let threshold = unsafe thresholds[unchecked: root + node]
                let isAbove = features[Int(choice)] > threshold
                node = 2 * node + (isAbove ? 2 : 1)
            }
            sum += unsafe Int32(values[unchecked: root + tree + node - inner])
        }
        return Arithmetic.logistic(Double(sum) / PriorTrees.scale)
    }
}
