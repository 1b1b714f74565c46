package import Vocabulary

/// What was wrong with an option, in words.
package struct OptionError: Error, Equatable, Sendable {
    package var reason: String
    package var value: String
    package var fix: String

    package init(reason: String, value: String, fix: String) {
        (self.reason, self.value, self.fix) = (reason, value, fix)
    }
}

/// Reads a map of options: every option is taken once, and what is left over is refused by name.
package struct OptionReader {
    private var rest: ValueMap
    private var known: [String] = []

    /// Longer texts are refused.
    package static let textLimit = 4096

    package init(_ options: ValueMap) { rest = options }

    mutating func take(_ name: String) -> Value? {
        known.append(name)
        let value = rest[name]
        rest[name] = nil
        return value
    }

    package mutating func text(_ name: String) throws(OptionError) -> String? {
        guard let value = take(name) else { return nil }
        guard let text = value.stringValue else { throw wrong(name, value, "a text") }
        guard text.utf8.count <= Self.textLimit, !text.utf8.contains(0) else {
            throw OptionError(
                reason: "\(name) is too long",
                value: "\(text.utf8.count) bytes",
                fix: "at most \(Self.textLimit) bytes"
            )
        }
        return text
    }

    package mutating func flag(_ name: String) throws(OptionError) -> Bool {
        guard let value = take(name) else { return false }
        guard let flag = value.boolValue else { throw wrong(name, value, "true or false") }
        return flag
    }

    package mutating func number(
        _ name: String,
        in range: ClosedRange<Int64>
    ) throws(OptionError) -> Int64? {
        guard let value = take(name) else { return nil }
        guard let number = value.integerValue, range.contains(number) else {
            throw wrong(name, value, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Seconds, whole or not, from 0 to a hundred years.
    package mutating func interval(_ name: String) throws(OptionError) -> Interval? {
        guard let value = take(name) else { return nil }
        guard let seconds = value.doubleValue, seconds >= 0, seconds <= 3_155_760_000 else {
            throw wrong(name, value, "a number of seconds, not negative")
        }
        return Interval(nanoseconds: Int64(seconds * 1e9))
    }

    package mutating func texts(
        _ name: String,
        limit: Int = 1024
    ) throws(OptionError) -> [String]? {
        guard let value = take(name) else { return nil }
        guard let list = value.listValue, list.count <= limit else {
            throw wrong(name, value, "a list of at most \(limit) texts")
        }
        var texts: [String] = []
        for item in list {
            guard let text = item.stringValue, !text.utf8.contains(0),
                text.utf8.count <= 128 << 10
            else { throw wrong(name, item, "a list of texts") }
            texts.append(text)
        }
        return texts
    }

    /// Everything known has been taken.
    package func finish() throws(OptionError) {
        guard let key = rest.keys.first else { return }
        throw OptionError(
            reason: "there is no option of that name",
            value: key,
            fix: known.isEmpty
                ? "this call has no options" : "the options are " + known.joined(separator: ", ")
        )
    }

    func wrong(_ name: String, _ value: Value, _ wanted: String) -> OptionError {
        OptionError(
            reason: "\(name) is not \(wanted)",
            value: String(value.json().prefix(80)),
            fix: "give \(wanted)"
        )
    }
}
