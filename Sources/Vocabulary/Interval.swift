/// A span of time, in whole nanoseconds: 64 bits, so that sums and comparisons cost one instruction
/// and the canonical form is one integer (the standard library's `Duration` has 128 bits).
///
/// Arithmetic saturates: a span read from a file or a peer never traps. It is inlinable: called
/// across the module's border, a comparison would cost more than the search that makes it.
@usableFromInline package struct Interval: Comparable, Hashable, Sendable, Codable {
    @usableFromInline package var nanoseconds: Int64

    @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable package static var zero: Interval { Interval(nanoseconds: 0) }
    /// Longer than any span that occurs: 292 years.
    @inlinable package static var forever: Interval { Interval(nanoseconds: .max) }

    @inlinable package static func milliseconds(_ count: Int64) -> Interval {
        count.times(1_000_000)
    }
    @inlinable package static func seconds(_ count: Int64) -> Interval {
        count.times(1_000_000_000)
    }
    @inlinable package static func minutes(_ count: Int64) -> Interval {
        count.times(60_000_000_000)
    }
    @inlinable package static func hours(_ count: Int64) -> Interval {
        count.times(3_600_000_000_000)
    }
    @inlinable package static func days(_ count: Int64) -> Interval {
        count.times(86_400_000_000_000)
    }

    /// Whole seconds, rounded towards zero.
    @inlinable package var wholeSeconds: Int64 { nanoseconds / 1_000_000_000 }
    @inlinable package var seconds: Double { Double(nanoseconds) / 1e9 }

    @inlinable package static func + (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds.saturatingAdd(right.nanoseconds))
    }
    @inlinable package static func - (left: Interval, right: Interval) -> Interval {
        Interval(nanoseconds: left.nanoseconds.saturatingSubtract(right.nanoseconds))
    }
    @inlinable package static func * (left: Interval, right: Int64) -> Interval {
        let (product, overflow) = left.nanoseconds.multipliedReportingOverflow(by: right)
        guard overflow else { return Interval(nanoseconds: product) }
        return Interval(nanoseconds: (left.nanoseconds < 0) == (right < 0) ? .max : .min)
    }
    @inlinable package static func / (left: Interval, right: Int64) -> Interval {
        let (quotient, overflow) = left.nanoseconds.dividedReportingOverflow(by: right)
        precondition(right != 0, "Interval divided by zero")
        return Interval(nanoseconds: overflow ? .max : quotient)
    }
    @inlinable package static func == (left: Interval, right: Interval) -> Bool {
        left.nanoseconds == right.nanoseconds
    }
    @inlinable package static func < (left: Interval, right: Interval) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
    @inlinable package static func += (left: inout Interval, right: Interval) {
        left = left + right
    }
    @inlinable package static func -= (left: inout Interval, right: Interval) {
        left = left - right
    }

    @usableFromInline package init(from decoder: any Decoder) throws {
        nanoseconds = try decoder.singleValueContainer().decode(Int64.self)
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(nanoseconds)
    }
}

extension Interval: CustomStringConvertible {
    /// As a person writes it: `1h 30m`, `45s`, `250ms`; at most two units.
    @usableFromInline package var description: String {
        if self == .forever { return "for ever" }
        guard nanoseconds >= 0 else {
            return "-" + (.zero - self).description
        }
        let milliseconds = nanoseconds / 1_000_000
        if milliseconds < 1000 { return "\(milliseconds)ms" }
        let units: [(Int64, String)] = [
            (86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"),
        ]
        var rest = milliseconds
        var parts: [String] = []
        for (size, name) in units where parts.count < 2 {
            if rest >= size {
                parts.append("\(rest / size)\(name)")
                rest %= size
            } else if !parts.isEmpty {
                break
            }
        }
        return parts.joined(separator: " ")
    }

    /// Reads `90s`, `15m`, `2h`, `1h 30m`, `1h30m`, `250ms`, `7d`, `2w`, and 0, which needs no
    /// unit. Nil for anything else, for a negative span and for more than 100 years; then
    /// `mistake(in:)` says why.
    package init?(_ text: String) {
        guard let span = Self.sum(text), span <= Self.longest else { return nil }
        self = span
    }

    /// The longest span that is read: 100 years.
    private static let longest = Interval.days(36_525)

    /// What the numbers and units of `text` add up to; nil: it is made of something else.
    private static func sum(_ text: String) -> Interval? {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 }
        var rest = text.utf8.drop(while: isSpace)
        if Int64(ascii: rest.prefix(while: \.isDigit)) == 0,
            rest.drop(while: \.isDigit).allSatisfy(isSpace)
        {
            return .zero
        }
        var sum = Interval.zero
        repeat {
            let digits = rest.prefix(while: \.isDigit)
            rest = rest.dropFirst(digits.count).drop(while: isSpace)
            let name = rest.prefix(while: \.isLetter)
            rest = rest.dropFirst(name.count).drop(while: isSpace)
            guard !digits.isEmpty, let size = size(ofUnit: Substring(name)) else { return nil }
            // Digits that make no number are too many.
            sum += size * (Int64(ascii: digits) ?? .max)
        } while !rest.isEmpty
        return sum
    }

    /// What is wrong with a text that `init` does not take.
    package enum Mistake: Equatable, Sendable {
        /// Of this number.
        case noUnit(Int64)
        case tooLong, negative, inMonths
        case pointInTime
        case noTime

        /// As it goes on after the text: `has no unit`.
        package var reason: String {
            switch self {
            case .noUnit: "has no unit"
            case .tooLong: "is more than 100 years"
            case .negative: "is less than nothing"
            case .inMonths: "is in months, which are not supported"
            case .pointInTime: "is a point in time, not a span"
            case .noTime: "is not a time"
            }
        }

        /// What to write instead: `Say 5s, 5min, 5h or 5d.`
        package var fix: String {
            switch self {
            case .noUnit(let count): "Say \(count)s, \(count)min, \(count)h or \(count)d."
            case .tooLong: "Write \(Interval.longest) at most."
            case .negative: "Write it without the minus sign."
            case .inMonths: "Write 1min or 30d."
            case .pointInTime, .noTime:
                "Write a number and a unit, such as 90s, 15min, 2h or 1d."
            }
        }
    }

    package static func mistake(in text: String) -> Mistake {
        let number = text.utf8.drop { $0 == 0x20 }.prefix(while: \.isDigit)
        if !number.isEmpty, text.utf8.allSatisfy({ $0.isDigit || $0 == 0x20 }),
            let count = Int64(ascii: number), Interval("\(count)s") != nil
        {
            return .noUnit(count)
        }
        if let sum = sum(text), sum > longest { return .tooLong }
        let trimmed = text.utf8.drop { $0 == 0x20 }
        if trimmed.first == UInt8(ascii: "-"),
            sum(String(Substring(trimmed.dropFirst()))) != nil
        {
            return .negative
        }
        if sum(text) == nil, sum(text.lowercased()) != nil { return .inMonths }
        return TypedTime(text) != nil ? .pointInTime : .noTime
    }

    private static func size(ofUnit name: Substring) -> Interval? {
        // Of a month in systemd, and by no means a minute.
        if name == "M" { return nil }
        return switch name.lowercased() {
        case "ms": .milliseconds(1)
        case "s", "sec", "second", "seconds": .seconds(1)
        case "m", "min", "minute", "minutes": .minutes(1)
        case "h", "hour", "hours": .hours(1)
        case "d", "day", "days": .days(1)
        case "w", "week", "weeks": .days(7)
        default: nil
        }
    }
}

extension UInt8 {
    var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }

    var isLetter: Bool {
        let folded = self | 0x20
        return UInt8(ascii: "a") <= folded && folded <= UInt8(ascii: "z")
    }
}

extension Int64 {
    /// The number that `digits`, decimal digits only, stand for.
    fileprivate init?(ascii digits: some Sequence<UInt8>) {
        self.init(String(decoding: Array(digits), as: UTF8.self))
    }

    @inlinable package func times(_ unit: Int64) -> Interval { Interval(nanoseconds: unit) * self }

    @inlinable package func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    @inlinable package func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other < 0 ? .max : .min
    }
}
