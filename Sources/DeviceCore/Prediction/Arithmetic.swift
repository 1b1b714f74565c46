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
        // Coefficients from the last on: 1/13!, 1/12!, …; rest is at most 0.347.
        var sum = 1.605_904_383_682_161_3e-10
        sum = sum * rest + 2.087_675_698_786_81e-9
        sum = sum * rest + 2.505_210_838_544_172e-8
        sum = sum * rest + 2.755_731_922_398_589e-7
        sum = sum * rest + 2.755_731_922_398_589_3e-6
        sum = sum * rest + 2.480_158_730_158_73e-5
        sum = sum * rest + 0.000_198_412_698_412_698_4
        sum = sum * rest + 0.001_388_888_888_888_889
        sum = sum * rest + 0.008_333_333_333_333_333
        sum = sum * rest + 0.041_666_666_666_666_664
        sum = sum * rest + 0.166_666_666_666_666_66
        sum = sum * rest + 0.5
        sum = sum * rest + 1
        sum = sum * rest + 1
        return Double(sign: .plus, exponent: Int(power), significand: sum)
    }

    static func logistic(_ logOdds: Double) -> Double { 1 / (1 + exp(-logOdds)) }
}
