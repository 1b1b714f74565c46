extension Arithmetic {
    /// The natural logarithm of a normal, positive number.
    static func ln(_ number: Double) -> Double {
        var exponent = Double(number.exponent)
        var mantissa = number.significand
        if mantissa > 1.414_213_562_373_095_1 {
            mantissa *= 0.5
            exponent += 1
        }
        // ln m = 2 artanh((m - 1) / (m + 1)), and the argument is at most 0.172.
        let ratio = (mantissa - 1) / (mantissa + 1)
        let square = ratio * ratio
        // Coefficients from the last on: 1/11, 1/9, …; good to about 10⁻¹⁰.
        var sum = 0.090_909_090_909_090_91
        sum = sum * square + 0.111_111_111_111_111_1
        sum = sum * square + 0.142_857_142_857_142_85
        sum = sum * square + 0.2
        sum = sum * square + 0.333_333_333_333_333_3
        sum = sum * square + 1
        return exponent * 0.693_147_180_559_945_3 + 2 * ratio * sum
    }
}
