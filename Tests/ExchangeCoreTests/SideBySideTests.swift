@testable import ExchangeCore
import Testing
import Vocabulary

/// Ranges of one object over several connections: what is asked for, and what becomes of answers.
struct SideBySideTests {
    private static let block: Int64 = 65_536
    private static let total = 16 * MissingRanges.leastBytes + 5
    private static let tag = "\"one\""

    private static func order(
        _ connections: Int64,
        resume: ResumePoint? = nil
    ) -> ExchangeOrder {
        var order = ExchangeOrder(url: "http://a.example/file", resume: resume, errors: .fail)
        order.moreConnections = connections - 1
        return order
    }

    private static func point(_ offset: Int64, _ ranges: [Range<Int64>] = []) -> ResumePoint {
        var point = ResumePoint(offset: offset, validator: .entityTag(tag), total: total)
        point.ranges = ranges
        return point
    }

    private static func head(
        _ status: Int,
        _ fields: KeyValuePairs<String, String>,
        length: Int64? = total
    ) -> Exchange.Head {
        Exchange.Head(
            status: status,
            fields: fields.map { HTTPField($0.key, $0.value) },
            length: length
        )
    }

    private static let whole = head(200, ["ETag": tag, "Accept-Ranges": "bytes"])

    private static func part(
        _ range: Range<Int64>,
        _ tag: String? = tag,
        of total: Int64 = total
    ) -> Exchange.Head {
        let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
        var head = head(206, ["Content-Range": text], length: Int64(range.count))
        if let tag { head.fields.append(HTTPField("ETag", tag)) }
        return head
    }

    private func fetched(_ actions: [Exchange.Action]) -> [Int] {
        actions.compactMap { if case .fetch(let connection) = $0 { connection } else { nil } }
    }

    private func end(_ actions: [Exchange.Action]) -> ExchangeEnd? {
        for case .end(let end) in actions { return end }
        return nil
    }

    private func told(_ actions: [Exchange.Action]) -> ExchangeAnswer? {
        for case .answered(let answer) in actions { return answer }
        return nil
    }

    private func asked(_ exchange: Exchange, _ connection: Int) -> Range<Int64>? {
        let text = exchange.fields(on: connection).value(of: "Range")
        let ends = (text ?? "").dropFirst("bytes=".count).split(separator: "-")
        guard ends.count == 2, let first = Int64(ends[0]), let last = Int64(ends[1]) else {
            return nil
        }
        return first..<last + 1
    }

    private func begun(
        _ connections: Int64,
        _ head: Exchange.Head = whole
    ) -> (exchange: Exchange, actions: [Exchange.Action]) {
        var exchange = Exchange(Self.order(connections))
        #expect(exchange.begin() == [.request])
        let actions = exchange.answered(head)
        return (exchange, actions)
    }

    /// The ranges of all connections but the first are on their way.
    private func underWay(_ connections: Int64) throws -> Exchange {
        var (exchange, actions) = begun(connections)
        for connection in fetched(actions) {
            let range = try #require(asked(exchange, connection))
            #expect(exchange.answered(Self.part(range), on: connection) == [])
        }
        return exchange
    }

    // MARK: When

    @Test func `a large object is divided alike, each range under the validator`() throws {
        let (exchange, actions) = begun(4)
        #expect(fetched(actions) == [1, 2, 3])
        #expect(told(actions)?.moreConnections == 3)
        let ranges = try (1...3).map { try #require(asked(exchange, $0)) }
        #expect(ranges[0].upperBound == ranges[1].lowerBound)
        #expect(ranges[1].upperBound == ranges[2].lowerBound)
        #expect(ranges[2].upperBound == Self.total)
        #expect(ranges[0].lowerBound == 8 << 20 && ranges[1].lowerBound == 16 << 20)
        let fields = exchange.fields(on: 2)
        #expect(fields.value(of: "If-Range") == Self.tag)
        #expect(fields.value(of: "Accept-Encoding") == "identity")
    }

    @Test(
        arguments: [
            ["ETag": "W/\"one\"", "Accept-Ranges": "bytes"], ["Accept-Ranges": "bytes"],
            ["ETag": "\"one\""], ["ETag": "\"one\"", "Accept-Ranges": "none"],
        ] as [KeyValuePairs<String, String>]
    )
    func `without a strong validator, or ranges, one answer brings all`(
        fields: KeyValuePairs<String, String>
    ) {
        var (exchange, actions) = begun(4, Self.head(200, fields))
        #expect(fetched(actions) == [])
        #expect(told(actions)?.moreConnections == 0)
        #expect(exchange.received(Int(Self.total)).offset == 0)
        #expect(exchange.bodyEnded() == [.end(.complete(size: Self.total))])
    }

    @Test func `a small object, one without a length, and one connection need no ranges`() {
        #expect(fetched(begun(1).actions) == [])
        let least = 2 * MissingRanges.leastBytes
        for (length, count) in [(least - 1, 0), (least, 1), (least * 2 - 1, 2), (nil, 0)] {
            var head = Self.whole
            head.length = length
            #expect(fetched(begun(8, head).actions).count == count, "\(length ?? -1)")
        }
    }

    @Test func `what is resumed is divided from there, and its gaps are filled`() throws {
        var exchange = Exchange(Self.order(3, resume: Self.point(100)))
        _ = exchange.begin()
        #expect(fetched(exchange.answered(Self.part(100..<Self.total))) == [1, 2])
        #expect(exchange.received == 100)
        let ranges = [5 << 20..<9 << 20, 12 << 20..<Self.total] as [Range<Int64>]
        var filled = Exchange(Self.order(2, resume: Self.point(1 << 20, ranges)))
        _ = filled.begin()
        #expect(filled.fields.value(of: "Range") == "bytes=1048576-5242879")
        #expect(filled.fields.value(of: "If-Range") == Self.tag)
        #expect(fetched(filled.answered(Self.part(1 << 20..<5 << 20))) == [1])
        #expect(asked(filled, 1) == 9 << 20..<12 << 20)
        #expect(filled.filled == FilledBytes(prefix: 1 << 20, ranges: ranges))
    }

    @Test func `one connection fills gaps one after the other, also the first one`() throws {
        let ranges = [5 << 20..<9 << 20, 12 << 20..<Self.total] as [Range<Int64>]
        var exchange = Exchange(Self.order(1, resume: Self.point(0, ranges)))
        #expect(exchange.begin() == [.request])
        let actions = exchange.answered(Self.part(0..<5 << 20))
        #expect(actions.count == 1 && told(actions)?.startsAnew == false)
        _ = exchange.received(5 << 20)
        #expect(exchange.bodyEnded() == [.fetch(0)])
        #expect(asked(exchange, 0) == 9 << 20..<12 << 20)
        #expect(exchange.answered(Self.part(9 << 20..<12 << 20), on: 0) == [])
        #expect(exchange.received(3 << 20).actions == [.end(.complete(size: Self.total))])
    }

    // MARK: The way

    @Test func `what is there is known byte by byte`() throws {
        var exchange = try underWay(2)
        let middle = try #require(asked(exchange, 1)).lowerBound
        #expect(exchange.received(1000, on: 1).offset == middle)
        #expect(exchange.filled == FilledBytes(prefix: 0, ranges: [middle..<middle + 1000]))
        #expect(exchange.received(7).offset == 0)
        #expect(exchange.filled.prefix == 7 && exchange.received == 1007)
        exchange.notWritten(middle + 500..<middle + 1000)
        #expect(exchange.filled == FilledBytes(prefix: 7, ranges: [middle..<middle + 500]))
    }

    @Test func `the first answer is left where another connection has begun`() throws {
        var exchange = try underWay(2)
        let middle = try #require(asked(exchange, 1)).lowerBound
        #expect(exchange.room(on: 0) == middle)
        let (offset, actions) = exchange.received(Int(middle))
        #expect(offset == 0)
        // It takes over the end of what the other one has before it.
        #expect(actions == [.giveUp(0), .fetch(0)])
        #expect(exchange.room(on: 0) == 0)
        let range = try #require(asked(exchange, 0))
        #expect(range.upperBound == Self.total && range.lowerBound > middle)
        #expect(exchange.room(on: 1) == range.lowerBound - middle)
    }

    @Test func `an answer that has brought its range leaves its connection for another`() throws {
        var exchange = try underWay(2)
        let rest = exchange.room(on: 1)
        #expect(exchange.received(Int(rest), on: 1).actions == [])
        #expect(exchange.bodyEnded(on: 1) == [.fetch(1)])
    }

    @Test func `the last byte completes it, whoever brings it`() throws {
        var exchange = try underWay(2)
        let middle = exchange.room(on: 0)
        _ = exchange.received(Int(exchange.room(on: 1)), on: 1)
        let last = exchange.received(Int(middle))
        #expect(last.actions == [.end(.complete(size: Self.total))])
        #expect(exchange.filled == FilledBytes(prefix: Self.total))
    }

    // MARK: Answers

    @Test(arguments: [
        SideBySideTests.head(503, [:], length: 0), SideBySideTests.head(302, [:], length: 0),
        SideBySideTests.head(416, [:], length: 0),
        // It ignores ranges.
        SideBySideTests.whole,
        // It says nothing of the version.
        SideBySideTests.part(8 << 20..<16 << 20, nil),
        SideBySideTests.part((8 << 20) + 1..<16 << 20),
        SideBySideTests.part(8 << 20..<Int64(16 << 20) + 1),
    ])
    func `a connection that gets no range leaves it to the others`(head: Exchange.Head) throws {
        var (exchange, _) = begun(4)
        #expect(exchange.answered(head, on: 1) == [.giveUp(1)])
        #expect(exchange.received(10, on: 1).offset == nil)
        for connection in 2...3 {
            let range = try #require(asked(exchange, connection))
            _ = exchange.answered(Self.part(range), on: connection)
        }
        // The next one that has nothing to do takes it.
        _ = exchange.received(Int(exchange.room(on: 3)), on: 3)
        #expect(exchange.bodyEnded(on: 3) == [.fetch(3)])
        #expect(asked(exchange, 3) == 8 << 20..<16 << 20)
    }

    @Test func `alone in the end, the first answer brings all`() {
        var (exchange, _) = begun(4)
        for connection in 1...3 {
            #expect(end(exchange.answered(Self.head(503, [:], length: 0), on: connection)) == nil)
        }
        // Over the one answer that it has: there may be no other.
        for _ in 0..<3 {
            #expect(exchange.received(Int(exchange.room(on: 0))).actions == [])
        }
        let last = exchange.received(Int(exchange.room(on: 0)))
        #expect(last.actions == [.end(.complete(size: Self.total))])
    }

    @Test func `the first answer goes on over a range whose connection has no answer yet`() throws {
        var (exchange, _) = begun(3)
        let range = try #require(asked(exchange, 1))
        #expect(exchange.received(Int(range.lowerBound)).actions == [.giveUp(1), .fetch(1)])
        #expect(exchange.room(on: 0) > 0)
        let later = try #require(asked(exchange, 1))
        #expect(later.lowerBound > range.lowerBound)
    }

    @Test(arguments: [
        SideBySideTests.part(8 << 20..<16 << 20, "\"two\""),
        SideBySideTests.part(8 << 20..<16 << 20, "W/\"one\""),
        SideBySideTests.part(8 << 20..<16 << 20, of: SideBySideTests.total + 1),
        SideBySideTests.head(200, ["ETag": "\"two\""]),
        SideBySideTests.head(200, ["ETag": "\"one\""], length: 7),
        SideBySideTests.head(416, ["Content-Range": "bytes */7"], length: 0),
    ])
    func `another version ends all, and one connection begins anew`(head: Exchange.Head) throws {
        var exchange = try underWay(3)
        _ = exchange.received(1 << 20)
        _ = exchange.received(Int(exchange.room(on: 1)), on: 1)
        #expect(exchange.bodyEnded(on: 1) == [.fetch(1)])
        var other = head
        if head.status == 206 {
            let range = try #require(asked(exchange, 1))
            let total = head.fields.value(of: "Content-Range").flatMap(ContentRange.init)?.total
            other = Self.part(range, head.fields.value(of: "ETag"), of: total ?? 0)
        }
        let actions = exchange.answered(other, on: 1)
        let begins = ExchangeAnswer(status: 0, url: exchange.url, startsAnew: true)
        #expect(Set(actions.dropLast()) == [.giveUp(0), .giveUp(1), .giveUp(2)])
        #expect(actions.last == .answered(begins))
        #expect(exchange.received == 0)
        // What still comes is of no use to anybody.
        #expect(exchange.received(5, on: 2).offset == nil)
        #expect(exchange.proceed() == [.truncate, .request])
        #expect(exchange.fields.value(of: "Range") == nil)
        #expect(fetched(exchange.answered(Self.whole)) == [])
    }

    @Test func `a range that is shorter than it was asked for is gone on with`() throws {
        var (exchange, _) = begun(2)
        let range = try #require(asked(exchange, 1))
        let short = range.lowerBound..<range.lowerBound + Self.block
        #expect(exchange.answered(Self.part(short), on: 1) == [])
        #expect(exchange.room(on: 1) == Self.block)
        #expect(exchange.received(Int(Self.block), on: 1).offset == range.lowerBound)
        #expect(exchange.bodyEnded(on: 1) == [.giveUp(1), .fetch(1)])
        #expect(asked(exchange, 1) == short.upperBound..<range.upperBound)
    }

    // MARK: Connections that fail

    @Test func `one that has brought something is tried again, one that has not is not`() throws {
        var exchange = try underWay(2)
        let range = try #require(asked(exchange, 1))
        _ = exchange.received(Int(Self.block), on: 1)
        #expect(exchange.failed(.init(.connection), on: 1) == [.giveUp(1), .fetch(1)])
        #expect(asked(exchange, 1) == range.lowerBound + Self.block..<range.upperBound)
        #expect(exchange.failed(.init(.connection), on: 1) == [.giveUp(1)])
        #expect(!exchange.isEnded)
    }

    @Test func `without any connection it is interrupted, and knows what it has`() throws {
        var exchange = try underWay(2)
        let middle = exchange.room(on: 0)
        _ = exchange.received(10, on: 1)
        #expect(exchange.failed(.init(.timedOut), on: 0) == [.giveUp(0)])
        let last = exchange.failed(.init(.connection, reason: "gone"), on: 1)
        #expect(last.last == .end(.interrupted(.init(.connection, reason: "gone"))))
        #expect(exchange.filled == FilledBytes(prefix: 0, ranges: [middle..<middle + 10]))
    }

    @Test func `a disk that is full ends all of it`() throws {
        var exchange = try underWay(3)
        let end = ExchangeEnd.interrupted(.init(.diskFull))
        #expect(exchange.end(end) == [.end(end)])
        #expect(exchange.received(10, on: 2).offset == nil)
    }
}
