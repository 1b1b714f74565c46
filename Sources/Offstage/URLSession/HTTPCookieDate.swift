internal import Vocabulary

/// The date of a cookie, in any of the forms that servers write (RFC 6265 section 5.1.1).
enum HTTPCookieDate {
    private typealias Word = ArraySlice<UInt8>

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Since 1970, and 0 for what was before; nil: no date.
    static func seconds(_ text: String) -> Int64? {
        var clock: [Int64]?
        var day: Int64?
        var month: String?
        var year: Int64?
        for word in Array(text.utf8).split(whereSeparator: isDelimiter) {
            if clock == nil, let found = Self.clock(word) {
                clock = found
            } else if day == nil, let found = number(word, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(word) {
                month = found
            } else if year == nil, let found = number(word, digits: 2...4) {
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }
        return clock.flatMap { clock in seconds(day, month, year, clock) }
    }

    private static func seconds(
        _ day: Int64?,
        _ month: String?,
        _ year: Int64?,
        _ clock: [Int64]
    ) -> Int64? {
        guard let day, let month, let year, year >= 1601, clock[2] < 60 else { return nil }
        let time = "\(clock[0]):\(clock[1]):\(clock[2])"
        let found = HTTPDate.seconds("Thu, \(day) \(month) \(max(year, 1970)) \(time) GMT")
        return year < 1970 ? found.map { _ in 0 } : found
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2f, 0x3b...0x40, 0x5b...0x60, 0x7b...0x7e: true
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// That the word begins with; nil: it has fewer digits there, or more.
    private static func number(_ word: Word, digits: ClosedRange<Int>) -> Int64? {
        let found = word.prefix(while: isDigit)
        guard digits.contains(found.count) else { return nil }
        return Int64(String(decoding: found, as: UTF8.self))
    }

    /// Hour, minute and second.
    private static func clock(_ word: Word) -> [Int64]? {
        let parts = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].allSatisfy(isDigit), parts[1].allSatisfy(isDigit) else {
            return nil
        }
        let numbers = parts.prefix(3).compactMap { number($0, digits: 1...2) }
        return numbers.count == 3 ? numbers : nil
    }

    private static func month(_ word: Word) -> String? {
        let name = String(decoding: word.prefix(3), as: UTF8.self).lowercased()
        return months.first { $0.lowercased() == name }
    }
}
