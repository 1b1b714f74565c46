import ExchangeCore
import TestKit
import Testing
import Vocabulary

/// Fetches a large file over several connections. The server changes the file, ignores requests and
/// breaks off; exchanges are killed and begun again. A complete file is always of one version.
struct OneVersionSideBySideTests {
    @Test func `what is complete is one version, and nothing is fetched twice in vain`() throws {
        var (sides, gaps, alone, versions) = (0, 0, 0, 0)
        for seed in 0..<1500 {
            var world = SideBySideWorld(seed: UInt64(seed))
            let end = world.run()
            try #require(world.problem == nil, "seed \(seed): \(world.problem ?? "")")
            try #require(end, "seed \(seed) does not end")
            sides += world.sideRequests
            gaps += world.resumedGaps
            alone += world.aloneCount
            versions += world.version - 1
        }
        // Else nothing was tried.
        let counts = "\(sides) ranges, \(gaps) gaps, \(alone) alone, \(versions) versions"
        #expect(sides > 6000 && gaps > 150 && alone > 300 && versions > 300, "\(counts)")
    }
}

/// The file in blocks: of each, of which version it is.
private struct SideBySideWorld {
    static let block: Int64 = 65_536
    private var random: SeededRandom
    private(set) var version = 1
    private let connections: Int64
    private var exchange: Exchange
    /// Of the file; 0: nothing.
    private var file: [Int] = []
    private var streams: [Stream] = []
    /// What the daemon knows.
    private var resume: ResumePoint?
    private var answer: ExchangeAnswer?
    private var end: ExchangeEnd?
    private(set) var problem: String?
    private(set) var sideRequests = 0
    private(set) var resumedGaps = 0
    private(set) var aloneCount = 0
    /// After that many attempts the server does what it should.
    private static let faultyAttempts = 12
    private var attempts = 0

    private struct Stream {
        let connection: Int
        let fields: [HTTPField]
        /// Nil: it is not answered.
        var body: Body?

        struct Body {
            let version: Int
            var next: Int64
            var end: Int64
        }
    }

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        connections = 1 + Int64(seed % 9)
        exchange = Exchange(ExchangeOrder(url: "http://a.example/"))
    }

    private var isFaulty: Bool { attempts < Self.faultyAttempts }

    /// Of most versions the same.
    private static func size(_ version: Int) -> Int64 {
        (version % 4 == 0 ? 150 : 401) * block + 5
    }

    private static func tag(_ version: Int) -> String { "\"\(version)\"" }

    /// Whether it has come to its end.
    mutating func run() -> Bool {
        while attempts < 60, problem == nil {
            attempts += 1
            attempt()
            if case .complete(let size) = end {
                let kind = file.first ?? 0
                let blocks = Int((size + Self.block - 1) / Self.block)
                if size != Self.size(kind) || file != Array(repeating: kind, count: blocks) {
                    problem = "it is no version: \(Set(file)), \(size)"
                }
                return true
            }
        }
        return false
    }

    private mutating func attempt() {
        var order = ExchangeOrder(url: "http://a.example/", resume: resume, errors: .fail)
        // The daemon may give it fewer.
        order.moreConnections = random.below(4) == 0 ? 0 : connections - 1
        (exchange, answer, end, streams) = (Exchange(order), nil, nil, [])
        resumedGaps += resume?.ranges.count ?? 0
        perform(exchange.begin())
        var steps = 0
        while end == nil, problem == nil {
            steps += 1
            guard steps < 5000, !streams.isEmpty else {
                problem = "nothing goes on"
                return
            }
            if isFaulty, random.below(200) == 0 { return settle(isKilled: true) }
            if isFaulty, random.below(150) == 0 { version += 1 }
            step(random.below(streams.count))
            check()
        }
        settle(isKilled: false)
    }

    private mutating func check() {
        let filled = exchange.filled
        if !filled.isValid || filled.count != exchange.received { problem = "\(filled)" }
        if streams.count > Int(connections) { problem = "\(streams.count) connections" }
    }

    /// One of them goes on.
    private mutating func step(_ index: Int) {
        let stream = streams[index]
        guard var body = stream.body else { return reply(index) }
        if isFaulty, random.below(60) == 0 {
            streams.remove(at: index)
            return perform(exchange.failed(.init(.connection), on: stream.connection))
        }
        guard body.next < body.end else {
            streams.remove(at: index)
            return perform(exchange.bodyEnded(on: stream.connection))
        }
        let count = min(Self.block * Int64(1 + random.below(24)), body.end - body.next)
        let room = exchange.room(on: stream.connection)
        let taken = room == 0 ? count : min(count, room)
        let (offset, actions) = exchange.received(Int(taken), on: stream.connection)
        if let offset {
            if offset != body.next { problem = "\(body.next) goes to \(offset)" }
            write(taken, of: body.version, at: offset)
        }
        body.next += taken
        streams[index].body = body
        perform(actions)
    }

    private mutating func write(_ count: Int64, of version: Int, at offset: Int64) {
        let blocks = Int(offset / Self.block)..<Int((offset + count + Self.block - 1) / Self.block)
        while file.count < blocks.upperBound { file.append(0) }
        for block in blocks {
            if file[block] > 0 { problem = "block \(block) comes twice" }
            file[block] = version
        }
    }

    private mutating func perform(_ actions: [Exchange.Action]) {
        for action in actions {
            switch action {
            case .request: ask(0)
            case .fetch(let connection):
                sideRequests += 1
                if exchange.fields(on: connection).value(of: "If-Range") == nil {
                    problem = "a range without a validator"
                }
                ask(connection)
            case .giveUp(let connection): streams.removeAll { $0.connection == connection }
            case .truncate: file = []
            case .end(let end): self.end = end
            case .answered(let answer):
                self.answer = answer
                guard answer.startsAnew else { continue }
                resume = nil
                if streams.isEmpty, answer.status == 0, exchange.order.moreConnections > 0 {
                    aloneCount += 1
                }
                // It may be killed just then, or told to stop.
                if isFaulty, random.below(6) == 0 { return perform(exchange.stop()) }
                perform(exchange.proceed())
            }
        }
    }

    private mutating func ask(_ connection: Int) {
        streams.removeAll { $0.connection == connection }
        streams.append(Stream(connection: connection, fields: exchange.fields(on: connection)))
    }

    /// What is durable is kept; of the rest the disk has whatever it has.
    private mutating func settle(isKilled: Bool) {
        if case .complete = end { return }
        let isDurable = !isKilled || random.below(2) == 0
        if isDurable, let answer, let validator = answer.validator, !exchange.isWaiting {
            let filled = exchange.filled
            let total = answer.total
            var point = ResumePoint(offset: filled.prefix, validator: validator, total: total)
            point.ranges = filled.ranges
            resume = filled.count > 0 ? point : nil
        }
        let known = resume?.filled ?? FilledBytes(prefix: 0)
        for index in file.indices {
            let start = Int64(index) * Self.block
            let isKnown =
                start < known.prefix || known.ranges.contains { $0.contains(start) }
            if !isKnown { file[index] = 0 }
        }
    }

    // MARK: The server

    private mutating func reply(_ index: Int) {
        let stream = streams[index]
        let size = Self.size(version)
        var fields = [HTTPField("ETag", Self.tag(version)), HTTPField("Accept-Ranges", "bytes")]
        let fault = isFaulty ? random.below(40) : 99
        if fault == 0 { return answer(index, 503, [], nil) }
        if fault == 1 {
            return answer(index, 416, [HTTPField("Content-Range", "bytes */\(size)")], nil)
        }
        // Says nothing, or that it could be any.
        if fault == 2 { fields.removeFirst() }
        if fault == 3 { fields[0] = HTTPField("ETag", "W/" + Self.tag(version)) }
        let isTrue = stream.fields.value(of: "If-Range").map { $0 == Self.tag(version) } ?? true
        guard var range = asked(stream.fields, size), isTrue || fault < 8, fault != 8 else {
            return answer(index, 200, fields, 0..<size)
        }
        if fault == 9, range.count > 5 * Int(Self.block) {
            range = range.lowerBound + Self.block..<range.upperBound
        }
        if fault == 10 {
            let blocks = max(1, Int((range.upperBound - range.lowerBound) / Self.block))
            let count = Self.block * Int64(1 + random.below(blocks))
            range = range.lowerBound..<min(range.upperBound, range.lowerBound + count)
        }
        let total = fault == 11 ? size + 1 : size
        let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
        fields.append(HTTPField("Content-Range", text))
        answer(index, 206, fields, range)
    }

    private func asked(_ fields: [HTTPField], _ size: Int64) -> Range<Int64>? {
        guard let text = fields.value(of: "Range") else { return nil }
        let ends = text.dropFirst("bytes=".count).split(separator: "-")
        guard let first = Int64(ends[0]), first < size else { return nil }
        let last = ends.count > 1 ? Int64(ends[1]) ?? size : size
        return first..<min(size, last + 1)
    }

    private mutating func answer(
        _ index: Int,
        _ status: Int,
        _ fields: [HTTPField],
        _ range: Range<Int64>?
    ) {
        let connection = streams[index].connection
        let length = range.map { $0.upperBound - $0.lowerBound } ?? 0
        let range = range ?? 0..<0
        streams[index].body = .init(
            version: version,
            next: range.lowerBound,
            end: range.upperBound
        )
        let head = Exchange.Head(status: status, fields: fields, length: length)
        perform(exchange.answered(head, on: connection))
    }
}
