/// What tells one version of an object on a server from every other, byte for byte (a strong
/// validator, RFC 9110 section 8.8). Only with one may a download go on where it stopped.
package enum Validator: Hashable, Sendable, Codable {
    /// With its quotation marks, as the server wrote it.
    case entityTag(String)
    /// A date that is strong by section 8.8.2.2, as the server wrote it.
    case lastModified(String)
    /// An entity tag, and the coding of the bytes that have it (`Content-Encoding`): there are
    /// servers that give bytes in another coding the same tag.
    indirect case encodedTag(String, coding: String)

    /// As the value of `If-Range`.
    package var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text), .encodedTag(let text, _): text
        }
    }

    /// Of the bytes; nil: none.
    package var coding: String? {
        switch self {
        case .entityTag, .lastModified: nil
        case .encodedTag(_, let coding): coding
        }
    }

    /// Of a coding.
    package static let longestCoding = 64
}

/// Where a download goes on: bytes that are durable, and of which version they are.
package struct ResumePoint: Hashable, Sendable, Codable {
    /// Bytes from the start of the file; more than 0, unless there are ranges.
    package var offset: Int64
    package var validator: Validator
    /// The length of the whole object, in bytes.
    package var total: Int64?
    /// Bytes further on, of a file that was fetched over several connections.
    @OmittedIfDefault package var ranges: [Range<Int64>] = []

    package init(offset: Int64, validator: Validator, total: Int64?) {
        (self.offset, self.validator, self.total) = (offset, validator, total)
    }

    package var filled: FilledBytes { FilledBytes(prefix: offset, ranges: ranges) }
}

/// Which bytes of a file are there.
package struct FilledBytes: Hashable, Sendable {
    /// From its start.
    package var prefix: Int64
    /// Further on: each behind a gap, in order.
    package var ranges: [Range<Int64>]

    /// No gap is made without a connection that fetches it.
    package static let mostRanges = ExchangeOrder.mostConnections

    package init(prefix: Int64, ranges: [Range<Int64>] = []) {
        (self.prefix, self.ranges) = (prefix, ranges)
    }

    package var count: Int64 {
        ranges.reduce(prefix) { $0 + $1.upperBound - $1.lowerBound }
    }

    /// Where the last of them ends.
    package var end: Int64 { ranges.last?.upperBound ?? prefix }

    package var isValid: Bool {
        guard prefix >= 0, ranges.count <= Self.mostRanges else { return false }
        var end = prefix
        for range in ranges {
            guard range.lowerBound > end, !range.isEmpty else { return false }
            end = range.upperBound
        }
        return end <= 1 << 60
    }
}
