/// Random numbers that are the same for the same seed in every build, for ever: xoshiro256**, its
/// state filled by SplitMix64. (The standard library does not promise the same draws from
/// `random(in:using:)` in later versions.) Not for secrets.
package struct SeededRandom: Hashable, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    package init(seed: UInt64) {
        var counter = seed
        func splitMix() -> UInt64 {
            counter &+= 0x9E37_79B9_7F4A_7C15
            var mixed = counter
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
        state = (splitMix(), splitMix(), splitMix(), splitMix())
    }

    /// The next 64 bits.
    package mutating func next() -> UInt64 {
        let product = state.1 &* 5
        let result = (product << 7 | product >> 57) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = state.3 << 45 | state.3 >> 19
        return result
    }

    /// One of 0..<`bound`, each as likely as the others; `bound` must be positive.
    package mutating func below<Number: FixedWidthInteger>(_ bound: Number) -> Number {
        precondition(bound > 0, "SeededRandom.below(\(bound)): nothing is below it")
        return Number(draw(below: UInt64(bound)))
    }

    /// The same of most draws: nothing asks for the type.
    package mutating func below(_ bound: Int) -> Int {
        precondition(bound > 0, "SeededRandom.below(\(bound)): nothing is below it")
        return Int(draw(below: UInt64(bound)))
    }

    private mutating func draw(below bound: UInt64) -> UInt64 {
        // Lemire's multiplication; the low product tells the few draws that would favour some.
        var product = next().multipliedFullWidth(by: bound)
        if product.low < bound {
            let threshold = (0 &- bound) % bound
            while product.low < threshold { product = next().multipliedFullWidth(by: bound) }
        }
        return product.high
    }

    /// One number of `range`, each as likely as the others.
    package mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
        let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
        let offset = width == .max ? next() : below(width + 1)
        return range.lowerBound &+ Int64(bitPattern: offset)
    }

    /// True `part` times in `whole`.
    package mutating func chance(_ part: Int, in whole: Int) -> Bool { below(whole) < part }

    /// A number from 0 up to, but not including, 1, in steps of 2⁻⁵³.
    package mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A generator whose draws tell nothing of this one's; moves this one by one draw.
    package mutating func split() -> SeededRandom { SeededRandom(seed: next()) }

    package static func == (left: SeededRandom, right: SeededRandom) -> Bool {
        left.state == right.state
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(state.0)
        hasher.combine(state.1)
        hasher.combine(state.2)
        hasher.combine(state.3)
    }
}

/// Four integers: a snapshot of a device holds its generators.
extension SeededRandom: Codable {
    package init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        func word() throws -> UInt64 { UInt64(bitPattern: try list.decode(Int64.self)) }
        state = (try word(), try word(), try word(), try word())
        guard state != (0, 0, 0, 0) else {
            throw DecodingError.dataCorruptedError(
                in: list,
                debugDescription: "the one state that never changes"
            )
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(Int64(bitPattern: state.0))
        try list.encode(Int64(bitPattern: state.1))
        try list.encode(Int64(bitPattern: state.2))
        try list.encode(Int64(bitPattern: state.3))
    }
}
