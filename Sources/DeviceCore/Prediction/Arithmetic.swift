/// Elementary functions made of IEEE basic operations alone, in one order, so that their results
/// are the same bits on every processor; those of a C library are not. Good to about 10⁻¹³.
enum Arithmetic {
    /// e to the power of `number`, which is clamped to ±700.
    static func exp(_ number: Double) -> Double {
        let number = min(700, max(-700, number))
        let scaled = number * 1.442_695_040_888_963_4
        let power = Double(Int(scaled < 0 ? scaled - 0.5 : scaled + 0.5))
        // ln 2 in two parts: the first has so few bits that its product is exact.
        let rest =
            (number - power * 0.693_147_180_369_123_8) - power * 1.908_214_929_270_587_7e-10
        var sum = 1.0
        var factor = 13.0
        while factor >= 1 {
            sum = 1 + sum * rest / factor
            factor -= 1
        }
        return Double(sign: .plus, exponent: Int(power), significand: sum)
    }

    static func logistic(_ logOdds: Double) -> Double { 1 / (1 + exp(-logOdds)) }
}
