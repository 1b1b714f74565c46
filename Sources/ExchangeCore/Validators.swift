import Vocabulary

/// The validators of an answer (RFC 9110 section 8.8).
enum Validators {
    /// A strong one; nil: a later answer could be of another version unnoticed.
    static func strong(of fields: [HTTPField]) -> Validator? {
        let coding = coding(of: fields)
        if let tag = fields.value(of: "ETag") {
            guard isStrong(tag) && isPlain(tag) else { return nil }
            guard let coding else { return .entityTag(tag) }
            return coding.utf8.count <= Validator.longestCoding
                ? .encodedTag(tag, coding: coding) : nil
        }
        // A date is that of the object, and not of what a coding made of it.
        guard coding == nil, let modified = fields.value(of: "Last-Modified"),
            let changed = HTTPDate.seconds(modified),
            let answered = fields.value(of: "Date").flatMap(HTTPDate.seconds),
            // Section 8.8.2.2: changed twice within one second, it would have the same date.
            answered - changed >= 60, isPlain(modified)
        else { return nil }
        return .lastModified(modified)
    }

    /// Whether an answer says itself that it is of this version. One that says nothing may be of
    /// another, whatever `If-Range` said: there are servers that ignore it.
    static func confirm(_ validator: Validator, _ fields: [HTTPField]) -> Bool {
        said(fields, in: validator) == validator.text && coding(of: fields) == validator.coding
    }

    /// Whether an answer says itself that it is of another version.
    static func contradict(_ validator: Validator, _ fields: [HTTPField]) -> Bool {
        let said = said(fields, in: validator)
        return said != nil && said != validator.text
    }

    private static func said(_ fields: [HTTPField], in validator: Validator) -> String? {
        switch validator {
        case .entityTag, .encodedTag: fields.value(of: "ETag")
        case .lastModified: fields.value(of: "Last-Modified")
        }
    }

    /// Nil: the bytes of the body are those of the object.
    static func coding(of fields: [HTTPField]) -> String? {
        let codings = fields.values(of: "Content-Encoding").flatMap {
            $0.lowercased().split(separator: ",").map(\.trimmingSpaces)
        }
        let real = codings.filter { !$0.isEmpty && $0 != "identity" }
        return real.isEmpty ? nil : real.joined(separator: ", ")
    }

    /// Short enough to be kept, and without control characters.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 1024 && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            && tag.utf8.dropFirst().dropLast().allSatisfy {
                $0 == 0x21 || $0 >= 0x23 && $0 != 0x7f
            }
    }
}

/// `bytes 0-99/1234`, `bytes 0-99/*` or `bytes */1234`.
struct ContentRange: Hashable, Sendable {
    let first: Int64?
    let last: Int64?
    let total: Int64?

    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        total = Self.number(parts[1])
        guard total != nil || parts[1] == "*" else { return nil }
        if parts[0] == "*" {
            (first, last) = (nil, nil)
            return
        }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, last < total ?? .max
        else { return nil }
        (self.first, self.last) = (first, last)
    }

    private static func number(_ text: Substring) -> Int64? {
        guard (1...18).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}

/// `Retry-After`: seconds or a date.
enum RetryAfter {
    static let shortest = Interval.seconds(30)
    static let longest = Interval.hours(24)

    /// `date`: when the server answered, by its own clock. Nil: neither.
    static func wait(_ text: String, date: String?) -> Interval? {
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !text.isEmpty {
            let seconds = Int64(text) ?? .max
            return min(max(.seconds(min(seconds, 1 << 30)), shortest), longest)
        }
        guard let until = HTTPDate.seconds(text), let now = date.flatMap(HTTPDate.seconds) else {
            return nil
        }
        return min(max(.seconds(until - now), shortest), longest)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = drop(while: isSpace)
        guard let end = start.lastIndex(where: { !isSpace($0) }) else { return "" }
        return start[...end]
    }
}
