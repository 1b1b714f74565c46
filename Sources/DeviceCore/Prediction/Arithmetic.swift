/// Elementary functions made of IEEE basic operations alone, in one order, so that their results
/// are the same bits on every processor; those of a C library are not. Good to about 10⁻¹⁵.
enum Arithmetic {
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
        var sum = 0.0
        var odd = 23.0
        while odd >= 1 {
            sum = sum * square + 1 / odd
            odd -= 2
        }
        return exponent * 0.693_147_180_559_945_3 + 2 * ratio * sum
    }

    /// e to the power of `number`, which is clamped to ±700.
    static func exp(_ number: Double) -> Double {
        let number = min(700, max(-700, number))
        let power = (number * 1.442_695_040_888_963_4).rounded()
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

    /// Sine and cosine of `turns` full turns, 0 to 1.
    static func circle(_ turns: Double) -> (sine: Double, cosine: Double) {
        let quarter = (turns * 4).rounded()
        let angle = (turns * 4 - quarter) * 1.570_796_326_794_896_6
        let square = angle * angle
        var sine = 1.0
        var cosine = 1.0
        var step = 14.0
        while step >= 2 {
            sine = 1 - sine * square / (step * (step + 1))
            cosine = 1 - cosine * square / (step * (step - 1))
            step -= 2
        }
        sine *= angle
        switch Int(quarter) & 3 {
        case 0: return (sine, cosine)
        case 1: return (cosine, -sine)
        case 2: return (-sine, -cosine)
        default: return (-cosine, sine)
        }
    }

    /// The log odds of a probability that is kept 10⁻⁴ away from 0 and 1.
    static func logit(_ probability: Double) -> Double {
        let kept = min(1 - 1e-4, max(1e-4, probability))
        return ln(kept / (1 - kept))
    }

    static func logistic(_ logOdds: Double) -> Double { 1 / (1 + exp(-logOdds)) }

    /// ln(1 + minutes): spans from seconds to days on one scale.
    static func logMinutes(_ seconds: Double) -> Double { ln(1 + max(0, seconds) / 60) }
}
