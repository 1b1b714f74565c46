/// What many users have in common: a logistic regression, fitted on logs of the use of other
/// people's devices (docs/prediction.md). It holds numbers of nobody in particular.
enum Prior {
    /// In the order of `UseFeatures.Name`: mean and standard deviation of the feature, and the
    /// weight of the standardised feature.
    private static let rows: [(mean: Double, deviation: Double, weight: Double)] = [
        (-4.250, 2.223, 0.101), (-5.088, 2.798, 0.241), (-2.923, 2.339, 0.465),
        (-3.216, 2.589, 0.397), (-3.142, 1.374, -0.198), (-0.420, 1.678, -0.049),
        (3.299, 2.224, -0.403), (0.229, 0.418, -0.004), (6.503, 1.509, -0.092),
        (0.489, 0.762, 0.025), (1.149, 1.046, 0.372), (0.604, 0.606, -0.050),
        (-2.370, 1.860, 0.274), (0.012, 0.709, -0.217), (0.003, 0.705, -0.224),
        (0.003, 0.707, -0.215), (-0.006, 0.707, 0.045), (0.283, 0.450, -0.052),
        (-0.914, 2.005, -0.107),
    ]
    private static let intercept = -3.728

    static func chance(_ features: UseFeatures) -> Double {
        var sum = intercept
        for index in 0..<UseFeatures.count {
            let row = rows[index]
            sum += (features[index] - row.mean) / row.deviation * row.weight
        }
        return Arithmetic.logistic(sum)
    }
}
