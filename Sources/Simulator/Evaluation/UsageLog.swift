import Vocabulary

/// One line of a log of a person's use of a device.
package struct UsageEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case app, system, screenOn, screenOff, other
    }

    package var kind: Kind
    /// Which app, by its index in `UserLog.names`.
    package var app: Int
    /// Seconds of the local clock since 1970.
    package var start: Double
    /// Seconds; nil: the log does not know.
    package var duration: Double?
}

/// What one person did, in the order of time.
package struct UserLog: Sendable {
    package var data: String
    package var user: String
    /// In alphabetical order.
    package var names: [String]
    package var events: [UsageEvent]
}

/// A file with the columns `user,kind,app,start,duration_s` that cannot be read.
package struct UsageLogError: Error, Hashable, Sendable {
    package var line: Int
    package var reason: String
}

extension UserLog {
    /// Reads a log: its people in alphabetical order. `data` is what the file is called in the
    /// tables.
    package static func read(
        _ text: [UInt8],
        data: String
    ) throws(UsageLogError) -> [UserLog] {
        // As spreadsheets begin a file: a mark that it is UTF-8.
        let hasMark = text.starts(with: [0xEF, 0xBB, 0xBF])
        var lines = LogLines(hasMark ? Array(text.dropFirst(3)) : text)
        guard let head = lines.next(), head.map({ $0.text }) == LogLines.columns else {
            throw UsageLogError(
                line: 1,
                reason: "the first line is not " + LogLines.columns.joined(separator: ",")
            )
        }
        var users: [String] = []
        var byUser: [String: [RawEvent]] = [:]
        while let fields = lines.next() {
            if fields.count == 1, fields[0].isEmpty { continue }
            let event = try RawEvent(fields, line: lines.number)
            let user = fields[0].text
            if byUser[user] == nil { users.append(user) }
            byUser[user, default: []].append(event)
        }
        return users.sorted().map { user in
            UserLog(data: data, user: user, raw: byUser[user] ?? [])
        }
    }

    private init(data: String, user: String, raw: [RawEvent]) {
        (self.data, self.user) = (data, user)
        names = raw.map(\.app).inOrderOnce
        var indices: [String: Int] = [:]
        for (index, name) in names.enumerated() { indices[name] = index }
        // Stable: what the log says first came first.
        events = raw.enumerated().sorted {
            ($0.element.start, $0.offset) < ($1.element.start, $1.offset)
        }.map { _, event in
            UsageEvent(
                kind: event.kind,
                app: indices[event.app] ?? 0,
                start: event.start,
                duration: event.duration
            )
        }
    }
}

private struct RawEvent {
    var kind: UsageEvent.Kind
    var app: String
    var start: Double
    var duration: Double?

    init(_ fields: [ArraySlice<UInt8>], line: Int) throws(UsageLogError) {
        guard fields.count == 5 else {
            throw UsageLogError(line: line, reason: "it has \(fields.count) fields and not 5")
        }
        app = fields[2].text
        switch fields[1].text {
        case "app": kind = .app
        case "system": kind = .system
        case "screen": kind = app.hasPrefix("off") ? .screenOff : .screenOn
        default: kind = .other
        }
        guard let start = fields[3].localSeconds else {
            let reason =
                fields[3].hasOffset
                ? "has an offset from UTC; what is wanted is the time of the person's clock alone,"
                : "is not a time"
            throw UsageLogError(
                line: line,
                reason: "\"\(fields[3].text)\" \(reason) such as 2024-02-29T07:30:00.000"
            )
        }
        self.start = start
        // The screen was lit at this moment; how long, other lines tell.
        if ["on", "on-locked", "on-unlocked"].contains(app), kind == .screenOn { duration = 1 }
        guard !fields[4].isEmpty, duration == nil else { return }
        guard let duration = Double(fields[4].text), duration.isFinite else {
            throw UsageLogError(
                line: line,
                reason: "\"\(fields[4].text)\" is not a number of seconds"
            )
        }
        self.duration = duration
    }
}

/// The fields of each line; a field may stand in quotes.
private struct LogLines {
    static let columns = ["user", "kind", "app", "start", "duration_s"]
    private let text: [UInt8]
    private var index = 0
    private(set) var number = 0

    init(_ text: [UInt8]) { self.text = text }

    mutating func next() -> [ArraySlice<UInt8>]? {
        guard index < text.count else { return nil }
        number += 1
        var fields: [ArraySlice<UInt8>] = []
        var begin = index
        var isQuoted = false
        while index < text.count, isQuoted || text[index] != UInt8(ascii: "\n") {
            if text[index] == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if text[index] == UInt8(ascii: ","), !isQuoted {
                fields.append(field(begin..<index))
                begin = index + 1
            }
            index += 1
        }
        let hasReturn = index > begin && text[index - 1] == UInt8(ascii: "\r")
        fields.append(field(begin..<(hasReturn ? index - 1 : index)))
        index += 1
        return fields
    }

    private func field(_ range: Range<Int>) -> ArraySlice<UInt8> {
        let field = text[range]
        guard field.count >= 2, field.first == UInt8(ascii: "\""), field.last == field.first else {
            return field
        }
        return field.dropFirst().dropLast()
    }
}

extension ArraySlice<UInt8> {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }

    /// Whether a time is followed by `Z` or `+01:00`, also as `+0100` or `+01`.
    fileprivate var hasOffset: Bool {
        if last == UInt8(ascii: "Z"), dropLast().localSeconds != nil { return true }
        guard let sign = lastIndex(where: { [UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0) })
        else { return false }
        let isOffset = self[sign...].dropFirst().allSatisfy {
            $0 == UInt8(ascii: ":") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        return isOffset && self[..<sign].localSeconds != nil
    }

    /// `2024-02-29T07:30:00.123`, also with a blank in the middle and without the fraction.
    fileprivate var localSeconds: Double? {
        let bytes = Array(self)
        guard bytes.count >= 19, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] == UInt8(ascii: "T") || bytes[10] == UInt8(ascii: " "),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":")
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var number: Int64 = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                number = number * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return number
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction = 0.0
        if bytes.count > 20, bytes[19] == UInt8(ascii: "."), bytes.count <= 29 {
            guard let digits = number(20..<bytes.count) else { return nil }
            fraction = Double(digits)
            for _ in 20..<bytes.count { fraction /= 10 }
        } else if bytes.count > 19 {
            return nil
        }
        let seconds =
            LocalTime.day(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
        return Double(seconds) + fraction
    }
}
