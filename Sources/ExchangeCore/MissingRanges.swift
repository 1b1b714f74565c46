import Vocabulary

/// What is missing of one version of an object, and which connection fetches which of it.
///
/// A connection that has nothing to do takes what nobody fetches, else the end of what another one
/// still has before it. So there are never more gaps than connections, or than there were at first.
struct MissingRanges: Hashable, Sendable {
    let total: Int64
    let validator: Validator
    /// Bytes that are missing.
    private(set) var count: Int64
    /// Nobody fetches these. In order.
    private var free: [Range<Int64>]
    private(set) var claims: [Claim] = []

    /// What a connection fetches.
    struct Claim: Hashable, Sendable {
        let connection: Int
        /// Where its next byte goes.
        fileprivate(set) var next: Int64
        /// Another connection may have taken what lies behind.
        fileprivate(set) var end: Int64
        /// Of what was asked for.
        fileprivate(set) var askedEnd: Int64
        /// Of what the answer brings; nil: there is none yet.
        fileprivate(set) var answerEnd: Int64?
        /// Bytes of the answer.
        fileprivate(set) var brought: Int64 = 0

        /// Bytes that the answer may still bring.
        var room: Int64 { max(0, min(end, answerEnd ?? next) - next) }
        var isDone: Bool { next == end }
    }

    /// Less is not worth a request of its own.
    static let leastBytes: Int64 = 2 << 20
    /// Ranges are cut at multiples of this, as a disk likes it.
    private static let alignment: Int64 = 65_536

    init(total: Int64, validator: Validator, filled: FilledBytes) {
        (self.total, self.validator) = (total, validator)
        free = []
        var next = filled.prefix
        for range in filled.ranges {
            free.append(next..<range.lowerBound)
            next = range.upperBound
        }
        if next < total { free.append(next..<total) }
        count = total - filled.count
    }

    subscript(_ connection: Int) -> Claim? { claims.first { $0.connection == connection } }

    /// Which bytes are there.
    var filled: FilledBytes {
        let open = claims.filter { !$0.isDone }.map { $0.next..<$0.end }
        let missing = (free + open).sorted { $0.lowerBound < $1.lowerBound }
        guard let first = missing.first else { return FilledBytes(prefix: total) }
        var filled = FilledBytes(prefix: first.lowerBound)
        var next = first.upperBound
        for range in missing.dropFirst() {
            if range.lowerBound > next { filled.ranges.append(next..<range.lowerBound) }
            next = range.upperBound
        }
        if next < total { filled.ranges.append(next..<total) }
        return filled
    }

    // MARK: Who fetches what

    /// Returns those that have something to fetch now.
    mutating func assign(to idle: [Int]) -> [Int] {
        var left = idle[...]
        while !free.isEmpty, let connection = left.popFirst() {
            add(connection, free.removeFirst())
        }
        divide(among: left)
        let busy = idle.filter { self[$0] != nil }
        for index in claims.indices where busy.contains(claims[index].connection) {
            claims[index].askedEnd = claims[index].end
        }
        return busy
    }

    /// The largest of all claims becomes that of several.
    private mutating func divide(among idle: ArraySlice<Int>) {
        guard let index = claims.indices.max(by: { rest(of: $0) < rest(of: $1) }) else { return }
        let (next, end) = (claims[index].next, claims[index].end)
        let pieces = min(Int64(idle.count + 1), (end - next) / Self.leastBytes)
        guard pieces > 1 else { return }
        let cuts = (1..<pieces).map { piece in
            let cut = next + (end - next) / pieces * piece
            return cut - cut % Self.alignment
        }
        claims[index].end = cuts[0]
        for (connection, (start, end)) in zip(idle, zip(cuts, cuts.dropFirst() + [end])) {
            add(connection, start..<end)
        }
    }

    private func rest(of index: Int) -> Int64 { claims[index].end - claims[index].next }

    private mutating func add(_ connection: Int, _ range: Range<Int64>) {
        claims.append(
            Claim(
                connection: connection,
                next: range.lowerBound,
                end: range.upperBound,
                askedEnd: range.upperBound
            )
        )
    }

    /// Its answer brings what lies before `end`.
    mutating func answered(_ connection: Int, end: Int64) {
        guard let index = index(of: connection) else { return }
        claims[index].answerEnd = end
    }

    /// So many bytes have come; returns where they go. Nil: nowhere, there are too many.
    mutating func take(_ bytes: Int64, by connection: Int) -> Int64? {
        guard let index = index(of: connection), bytes <= claims[index].room else { return nil }
        let offset = claims[index].next
        claims[index].next += bytes
        claims[index].brought += bytes
        count -= bytes
        return offset
    }

    /// For a connection that has filled its range while its answer has more bytes. It may take the
    /// bytes that follow, if nobody fetches them or if the connection that does has no answer yet.
    /// `other`: that connection, which must be given up. A server that ignores `Range` would
    /// otherwise send the rest several times.
    mutating func extend(_ connection: Int) -> (isLonger: Bool, other: Int?) {
        guard let index = index(of: connection), claims[index].isDone,
            let answerEnd = claims[index].answerEnd, answerEnd > claims[index].end
        else { return (false, nil) }
        let end = claims[index].end
        if let next = free.firstIndex(where: { $0.lowerBound == end }) {
            claims[index].end = free.remove(at: next).upperBound
            return (true, nil)
        }
        guard let next = claims.first(where: { $0.next == end && $0.answerEnd == nil }) else {
            return (false, nil)
        }
        claims[index].end = next.end
        claims.removeAll { $0.connection == next.connection }
        return (true, next.connection)
    }

    /// It fetches nothing more; others may have what it leaves.
    mutating func release(_ connection: Int) {
        guard let index = index(of: connection) else { return }
        let claim = claims.remove(at: index)
        if !claim.isDone { insert(claim.next..<claim.end) }
    }

    /// These have come, and are not in the file.
    mutating func lose(_ range: Range<Int64>) {
        count += range.upperBound - range.lowerBound
        insert(range)
    }

    private mutating func insert(_ range: Range<Int64>) {
        let place = free.firstIndex { $0.lowerBound > range.lowerBound } ?? free.endIndex
        free.insert(range, at: place)
    }

    private func index(of connection: Int) -> Int? {
        claims.firstIndex { $0.connection == connection }
    }
}
