import TestKit
import Vocabulary

extension SeededRandom {
    /// A value of any kind, with every edge that its kind has.
    mutating func value(depth: Int = 0) -> Value {
        switch below(depth < 5 ? 10 : 7) {
        case 0: .null
        case 1: .bool(chance(1, in: 2))
        case 2, 3: .integer(integer())
        case 4: .double(double())
        case 5: .string(string())
        case 6: .bytes((0..<below(40)).map { _ in below(255) })
        case 7: .list((0..<below(6)).map { _ in value(depth: depth + 1) })
        default: .map(ValueMap((0..<below(8)).map { _ in (string(), value(depth: depth + 1)) }))
        }
    }

    private mutating func integer() -> Int64 {
        let near = Int64(1) << Int64(below(63))
        return switch below(4) {
        case 0: near - within(0...2)
        case 1: -near + within(-2...2)
        case 2: pick(from: [.min, .max, 0, -1, 23, 24, 255, 256, 65_535, 65_536]) ?? 0
        default: Int64(bitPattern: next())
        }
    }

    private mutating func double() -> Double {
        switch below(4) {
        case 0: Double(bitPattern: next())
        case 1: Double(Float(bitPattern: UInt32(truncatingIfNeeded: next())))
        case 2: Double(Float16(bitPattern: UInt16(truncatingIfNeeded: next())))
        default:
            pick(from: [0.0, -0.0, 1.5, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 0.1])
                ?? 0
        }
    }

    private mutating func string() -> String {
        let letters: [Unicode.Scalar] = [
            "a", "b", "z", "0", "-", "\"", "\\", "\n", "\0", "é", "e", "\u{301}", "ß", "漢", "😀",
            "\u{2028}", "\u{10FFFF}", "\u{7F}", "\u{80}",
        ]
        var string = ""
        for _ in 0..<below(chance(1, in: 20) ? 300 : 12) {
            string.unicodeScalars.append(letters[below(letters.count)])
        }
        return string
    }
}
