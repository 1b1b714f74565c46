/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers may send.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Since 1970; nil: another form, or no such day.
    package static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 6, words[5] == "GMT", words[0].hasSuffix(","),
            let day = number(words[1], 1...31),
            let month = months.firstIndex(of: String(words[2])),
            let year = number(words[3], 1970...9999)
        else { return nil }
        let clock = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], 0...23),
            let minute = number(clock[1], 0...59), let second = number(clock[2], 0...60)
        else { return nil }
        return days(year, Int64(month) + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.count <= 4, let number = Int64(text), range.contains(number) else {
            return nil
        }
        return number
    }

    /// Since 1970, in the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // The year begins in March, so that the leap day is its last.
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
