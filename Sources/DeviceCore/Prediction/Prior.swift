/// What many users have in common: trees fitted on logs of the use of other people's devices
/// (docs/prediction.md). They hold numbers of nobody in particular.
enum Prior {
    /// How likely an open is within 30 minutes.
    static func chance(_ features: UseFeatures) -> Double {
        let inner = (1 << PriorTrees.depth) - 1
        let (choices, thresholds) = (PriorTrees.features, PriorTrees.thresholds)
        let values = PriorTrees.values
        var sum = PriorTrees.start
        for tree in 0..<PriorTrees.count {
            let root = tree * inner
            var node = 0
            for _ in 0..<PriorTrees.depth {
                let isAbove = features[Int(choices[root + node])] > thresholds[root + node]
                node = 2 * node + (isAbove ? 2 : 1)
            }
            sum += Int32(values[tree * (inner + 1) + node - inner])
        }
        return Arithmetic.logistic(Double(sum) / PriorTrees.scale)
    }
}
