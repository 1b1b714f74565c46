import Linux
import TestKit
import Testing
import Vocabulary
import Wire

/// What the network process makes of servers: each right or wrong answer gives the right report and
/// the right file, and none of them harms another exchange.
struct ExchangeReportTests {
    private let server: FaultServer
    private let peer: NetworkPeer
    private let scratch = ScratchDirectory()
    private static let size: Int64 = 1 << 20
    private static let old = VersionedObject(version: 1, size: size)
    private static let new = VersionedObject(version: 2, size: size)

    init() throws {
        server = try FaultServer()
        peer = try NetworkPeer()
        server.set("/file", .init(Self.old))
    }

    private var file: String { scratch("file") }

    private func order(
        _ path: String = "/file",
        _ change: (inout ExchangeOrder) -> Void = { _ in }
    ) -> ExchangeOrder {
        var order = ExchangeOrder(url: server.url(path), errors: .fail, timeout: .seconds(30))
        change(&order)
        return order
    }

    private func fetch(_ order: ExchangeOrder) throws -> (end: ExchangeEnd, durable: Int64) {
        try peer.end(peer.begin(order, to: file))
    }

    private func expect(_ object: VersionedObject, at path: String? = nil) throws {
        // Without showing how millions of bytes differ.
        let isSame = try Files.read(path ?? file, limit: 1 << 26) == object.all
        #expect(isSame, "it is not version \(object.version)")
    }

    /// The first bytes of the old version are there.
    private func resuming(at offset: Int64 = 600_000) throws -> ExchangeOrder {
        scratch.write(Self.old.bytes(at: 0, count: Int(offset)), to: "file")
        return order {
            let validator = Validator.entityTag("\"1\"")
            $0.resume = ResumePoint(offset: offset, validator: validator, total: Self.size)
        }
    }

    // MARK: Whole files

    @Test func `a file is told of before it comes, and when it is durable`() throws {
        let id = try peer.begin(order(), to: file)
        let answer = try peer.answer(id)
        #expect(answer.status == 200 && answer.total == Self.size && answer.offset == 0)
        #expect(answer.validator == .entityTag("\"1\"") && answer.url == server.url("/file"))
        let (end, durable) = try peer.end(id)
        #expect(end == .complete(size: Self.size) && durable == Self.size)
        try expect(Self.old)
    }

    @Test func `a file that has all its bytes is told before it is durable`() throws {
        let id = try peer.begin(order(), to: file)
        while true {
            switch try peer.next() {
            case .answered(id, let answer) where answer.isWhole: return
            case .progress(id, let received, _) where received == Self.size: return
            case .ended: throw DidNotHappen(description: "a report of all its bytes")
            default: break
            }
        }
    }

    @Test func `a longer file that was there is gone`() throws {
        scratch.write([UInt8](repeating: 7, count: 2_000_000), to: "file")
        #expect(try fetch(order()).end.isComplete)
        try expect(Self.old)
    }

    @Test func `an empty file is one`() throws {
        server.set("/file", .init(VersionedObject(version: 1, size: 0)))
        #expect(try fetch(order()).end == .complete(size: 0))
        #expect(try Files.read(file, limit: 10) == [])
    }

    @Test func `a checksum holds for the whole file`() throws {
        scratch.write(Self.old.all, to: "sum")
        let digits = try Command("sha256sum", scratch("sum")).run().output.prefix(64)
        let sum = stride(from: 0, to: 64, by: 2).compactMap {
            UInt8(digits.dropFirst($0).prefix(2), radix: 16)
        }
        #expect(try fetch(order { $0.sha256 = sum }).end.isComplete)
        var other = sum
        other[31] ^= 1
        let end = try fetch(order { $0.sha256 = other }).end
        #expect(end.failure == .checksum)
        if case .failed(let failure) = end {
            let last = String(UInt8(other[31] >> 4), radix: 16) + String(other[31] & 15, radix: 16)
            let wanted = "its SHA-256 is \(digits), not \(digits.prefix(62))\(last)"
            #expect(failure.reason == wanted)
        }
        // Also of what was there before, and of which nothing is asked for.
        var all = try resuming(at: Self.size)
        all.sha256 = sum
        #expect(try fetch(all).end.isComplete)
        all.sha256 = other
        #expect(try fetch(all).end.failure == .checksum)
    }

    /// Who begins anew asks for the lock that comes with the file.
    @Test func `the file of an exchange is closed with its end`() throws {
        server.set("/missing", .init(Self.old))
        server.change("/missing") { $0.status = 404 }
        server.set("/held", .init(Self.old))
        server.change("/held") { $0.holdsAfter = 500_000 }
        for (number, name) in ["file", "missing", "held"].enumerated() {
            let (id, path) = (TransferID(UInt64(1_000 + number)), scratch("locked-" + name))
            try beginLocked(id, order("/" + name), path)
            if name == "held" {
                try server.waitUntilHeld(1)
                try peer.send(.stop(id))
            }
            _ = try peer.end(id)
            try Wait.until("\(name) is closed") {
                try FileDescriptor(opening: path, .both).tryLock()
            }
        }
        server.release()
    }

    private func beginLocked(_ id: TransferID, _ order: ExchangeOrder, _ path: String) throws {
        let file = try FileDescriptor(opening: path, [.both, .create])
        let isLocked = try file.tryLock()
        #expect(isLocked)
        try peer.send(.begin(id, order), with: file.number)
    }

    @Test func `small files share a few connections, and their syncs`() throws {
        server.set("/small", .init(VersionedObject(version: 3, size: 20_000)))
        let ids = try (0..<200).map {
            try peer.begin(order("/small"), to: scratch("small-\($0)"))
        }
        for id in ids { #expect(try peer.end(id).end == .complete(size: 20_000)) }
        let object = VersionedObject(version: 3, size: 20_000)
        for number in 0..<200 { try expect(object, at: scratch("small-\(number)")) }
        #expect(server.accepted <= 16, "\(server.accepted) connections")
    }

    @Test func `nobody waits for what a server takes its time with`() throws {
        var slow = FaultServer.Behaviour(Self.old)
        slow.holdsHead = true
        server.set("/slow", slow)
        let first = try (0..<3).map { try peer.begin(order("/slow"), to: scratch("slow-\($0)")) }
        try server.waitUntilHeld(first.count)
        #expect(try fetch(order()).end.isComplete)
        server.release()
        for id in first { #expect(try peer.end(id).end.isComplete) }
    }

    // MARK: The rest of a file

    @Test func `the rest is appended to what is there`() throws {
        let id = try peer.begin(resuming(), to: file)
        #expect(try peer.answer(id).offset == 600_000)
        #expect(try peer.end(id).end == .complete(size: Self.size))
        try expect(Self.old)
        #expect(server.requests.map { $0.fields["range"] } == ["bytes=600000-"])
    }

    private struct Answer: Sendable {
        let name: String
        /// The version that arrives.
        let isNew: Bool
        let change: @Sendable (inout FaultServer.Behaviour) -> Void

        init(
            _ name: String,
            _ isNew: Bool,
            _ change: @escaping @Sendable (inout FaultServer.Behaviour) -> Void
        ) {
            (self.name, self.isNew, self.change) = (name, isNew, change)
        }
    }

    private static let answers = [
        Answer("another version, as it should be", true, { _ in }),
        Answer("the part of another version", true, { $0.ignoresIfRange = true }),
        Answer("all in place of a part", false, { $0.honoursRange = false }),
        Answer("a part of another place", false, { $0.rangeShift = 1 }),
        Answer("parts of a tenth", false, { $0.partLimit = 50_000 }),
        Answer("a weak tag", true, { ($0.tag, $0.ignoresIfRange) = (.weak, true) }),
        Answer("no tag", true, { ($0.tag, $0.ignoresIfRange) = (.absent, true) }),
        Answer(
            "a date in place of the tag",
            true,
            { ($0.tag, $0.ignoresIfRange) = (.dateOnly, true) }
        ),
        Answer("412", false, { ($0.status, $0.statusCount) = (412, 1) }),
        Answer("416", true, { ($0.status, $0.statusCount) = (416, 1) }),
        Answer("chunks", false, { $0.isChunked = true }),
    ]

    @Test(arguments: answers.indices) func `what arrives is one version`(_ index: Int) throws {
        let answer = Self.answers[index]
        server.change("/file") {
            if answer.isNew { $0.object = Self.new }
            answer.change(&$0)
        }
        #expect(try fetch(resuming()).end == .complete(size: Self.size), "\(answer.name)")
        try expect(answer.isNew ? Self.new : Self.old)
    }

    /// The daemon has forgotten what was durable before, and takes what it is told for bytes of the
    /// new version.
    @Test func `an exchange that ends before it may begin anew has nothing durable`() throws {
        server.change("/file") { $0.object = Self.new }
        let id = try peer.begin(resuming(), to: file)
        let answer = try peer.answer(id)
        #expect(answer.startsAnew && answer.validator == .entityTag("\"2\""))
        try peer.send(.stop(id))
        let (end, durable) = try peer.first {
            if case .ended(id, let end, let durable) = $0 { (end, durable) } else { nil }
        }
        #expect(end.cause == .stopped && durable == 0)
        // And nothing was written.
        let isSame = try Files.read(file, limit: 1 << 21) == Self.old.bytes(at: 0, count: 600_000)
        #expect(isSame)
    }

    @Test func `what a killed process had made durable is not fetched again`() throws {
        let object = VersionedObject(version: 1, size: 12 << 20)
        server.set("/file", .init(object))
        server.change("/file") { $0.holdsAfter = 10 << 20 }
        let first = try NetworkPeer()
        let id = try first.begin(order(), to: file)
        let answer = try first.answer(id)
        let durable = try first.waitUntilDurable(id, 8 << 20)
        try first.process.send(Signal.kill)
        _ = try first.exit()
        server.change("/file") { $0.holdsAfter = nil }
        server.release()
        let validator = try #require(answer.validator)
        let rest = order {
            $0.resume = ResumePoint(offset: durable, validator: validator, total: answer.total)
        }
        #expect(try fetch(rest).end == .complete(size: object.size))
        try expect(object)
        #expect(server.requests.last?.fields["range"] == "bytes=\(durable)-")
    }

    @Test func `what could not be written is not complete, though all of it has come`() throws {
        let object = VersionedObject(version: 1, size: 1 << 20)
        server.set("/file", .init(object))
        let first = try peer.begin(order(), to: file)
        let validator = try #require(try peer.answer(first).validator)
        #expect(try peer.end(first).end == .complete(size: object.size))
        let rest = order {
            $0.resume = ResumePoint(offset: 500_000, validator: validator, total: object.size)
            $0.resume?.ranges = [600_000..<object.size]
        }
        let readable = try FileDescriptor(opening: file, .reading)
        let id = TransferID(4_711)
        try peer.send(.begin(id, rest), with: readable.number)
        guard case .failed(let failure) = try peer.end(id).end else {
            throw DidNotHappen(description: "a failure")
        }
        #expect(failure.code == .file)
        #expect(server.requests.last?.fields["range"] == "bytes=500000-599999")
    }

    // MARK: Interruptions

    @Test func `what came before the connection broke is durable under a strong tag only`() throws {
        server.change("/file") { $0.dropsAfter = 700_000 }
        let (end, durable) = try fetch(order())
        #expect(end.cause == .connection && durable == 700_000)
        server.change("/file") { $0.tag = .weak }
        let (other, none) = try fetch(order())
        #expect(other.cause == .connection && none == 0)
    }

    @Test func `a server that says nothing any more is given up`() throws {
        server.change("/file") { $0.holdsAfter = 100_000 }
        let (end, durable) = try fetch(order { $0.timeout = .seconds(1) })
        #expect(end.cause == .timedOut && durable == 100_000)
        server.release()
    }

    @Test func `nobody who listens is an interruption, and a name that is none as well`() throws {
        for url in ["http://127.0.0.1:1/", "http://offstage.invalid/"] {
            #expect(try fetch(order { $0.url = url }).end.cause == .connection)
        }
    }

    @Test func `a busy server says when to come again`() throws {
        server.change("/file") { ($0.status, $0.fields) = (503, ["Retry-After: 90"]) }
        guard case .interrupted(let interruption) = try fetch(order()).end else {
            throw DidNotHappen(description: "an interruption")
        }
        #expect(interruption.cause == .busy && interruption.retryAfter == .seconds(90))
    }

    @Test func `what is stopped keeps what it has`() throws {
        server.change("/file") { $0.holdsAfter = 500_000 }
        let id = try peer.begin(order(), to: file)
        try server.waitUntilHeld(1)
        try peer.first { if case .progress(id, 500_000, _) = $0 { () } else { nil } }
        try peer.send(.stop(id))
        let (end, durable) = try peer.end(id)
        #expect(end.cause == .stopped && durable == 500_000)
        server.release()
    }

    // MARK: Servers that should not be

    private static func raw(_ head: String) -> String {
        "HTTP/1.1 " + head + "\r\nContent-Length: 3\r\n\r\nabc"
    }

    private static let long = String(repeating: "b", count: 9000)

    private static let hostile: [(String, ExchangeFailure.Code?, ExchangeEnd.Interruption.Cause?)] =
        [
            ("this is not HTTP\r\n\r\n", .badAnswer, nil),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 3\r\n\r\nabc", .badAnswer,
                nil
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n", .badAnswer, nil),
            ("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\n", .badAnswer, nil),
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", nil, .connection),
            ("HTTP/1.1 100 Continue\r\n\r\n", nil, .connection),
            ("", nil, .connection),
            (raw("206 Part\r\nContent-Range: bytes 0-2/3"), .badAnswer, nil),
            (raw("304 Not Modified"), .badAnswer, nil),
            (raw("302 Found\r\nLocation: http://127.0.0.1:1/\t/b"), nil, .connection),
            (raw("302 Found\r\nLocation: http://a/\u{1}"), .badAnswer, nil),
            (raw("302 Found\r\nLocation: gopher://a\t/"), .badRedirect, nil),
            (raw("302 Found\r\nLocation: http://a/" + long), .badRedirect, nil),
        ]

    /// A report that the daemon could not read would end all other exchanges as well.
    @Test(arguments: hostile.indices) func `no server ends more than its own exchange`(
        _ index: Int
    ) throws {
        let (text, failure, cause) = Self.hostile[index]
        server.set("/hostile", .init(Self.old))
        server.change("/hostile") { $0.garbage = text }
        server.change("/file") { $0.holdsAfter = 100_000 }
        let other = try peer.begin(order(), to: scratch("other"))
        try server.waitUntilHeld(1)
        let end = try fetch(order("/hostile")).end
        #expect(end.failure == failure && end.cause == cause, "\(end)")
        server.release()
        #expect(try peer.end(other).end.isComplete)
        try expect(Self.old, at: scratch("other"))
    }

    @Test func `what a server adds to its answer is handed on or left out`() throws {
        let long = String(repeating: "a", count: 2000)
        let more = "ETag: \"\(long)\"\r\nLast-Modified: \(long), 01 Mar 2026 12:00:00 GMT\r\n"
        server.change("/file") {
            $0.garbage =
                "HTTP/1.1 200 OK\r\n" + more + "X Y: z\r\nX-Control: a\u{1}b\r\nX-Latin: \u{fc}\r\n"
                + "Content-Length: 3 \r\n\r\nabc"
        }
        let id = try peer.begin(order(), to: file)
        let answer = try peer.answer(id)
        #expect(answer.validator == nil && answer.total == 3)
        #expect(answer.headers.value(of: "X-Control") == nil)
        #expect(answer.headers.value(of: "X-Latin") == "\u{fc}")
        #expect(try peer.end(id).end == .complete(size: 3))
    }

    @Test func `what is compressed arrives as it was sent`() throws {
        server.change("/file") { $0.fields = ["Content-Encoding: x-gzip"] }
        #expect(try fetch(order()).end == .complete(size: Self.size))
        try expect(Self.old)
    }

    @Test func `heads and redirects without end are ended`() throws {
        server.change("/file") { $0.hasEndlessHead = true }
        #expect(try fetch(order()).end.failure == .badAnswer)
        server.change("/file") {
            ($0.hasEndlessHead, $0.isEndless) = (false, true)
            $0.garbage = "HTTP/1.1 200 OK\r\nX-Long: "
        }
        #expect(try fetch(order()).end.failure == .badAnswer)
        server.change("/file") {
            $0.garbage = "HTTP/1.1 302 Found\r\nLocation: /other\r\n\r\n"
        }
        #expect(try fetch(order()).end.failure == .badAnswer)
    }

    @Test func `a body without end is ended by the limit`() throws {
        server.change("/file") {
            $0.isEndless = true
            $0.garbage = "HTTP/1.1 200 OK\r\n\r\n"
        }
        #expect(try fetch(order { $0.sizeLimit = 3_000_000 }).end.failure == .tooLarge)
        #expect(try Files.read(file, limit: 1 << 23).count <= 3_000_000)
    }

    @Test func `a user in the URL is told to no other server`() throws {
        let other = try FaultServer()
        other.set("/file", .init(Self.new))
        server.set("/from", .init(Self.old))
        let whom = "Basic dXNlcjpwYXNzd29yZA=="
        let url = server.url("/from").replacing("://", with: "://user:password@")
        for (redirect, isElsewhere) in [("/file", false), (other.url("/file"), true)] {
            server.change("/from") { $0.redirect = redirect }
            let asked = server.requests.count
            #expect(try fetch(order { $0.url = url }).end.isComplete)
            let last = try #require(isElsewhere ? other.requests.last : server.requests.last)
            #expect(server.requests[asked].fields["authorization"] == whom)
            #expect(last.path == "/file")
            #expect(last.fields["authorization"] == (isElsewhere ? nil : whom))
            #expect(last.fields["referer"] == nil)
        }
    }

    @Test func `a redirect to a name with spaces is followed`() throws {
        server.set("/a%20b", .init(Self.new))
        server.change("/file") { $0.redirect = "/a b" }
        let id = try peer.begin(order(), to: file)
        #expect(try peer.answer(id).url == server.url("/a%20b"))
        #expect(try peer.end(id).end.isComplete)
        try expect(Self.new)
    }

    // MARK: Ways through the network

    @Test func `a proxy is asked, if the order or the environment names one`() throws {
        server.set("http://offstage.invalid/file", .init(Self.new))
        let url = "http://offstage.invalid/file"
        let end = try fetch(
            order {
                $0.url = url
                $0.proxy = server.url("")
            }
        ).end
        #expect(end.isComplete)
        try expect(Self.new)
        let other = try NetworkPeer(environment: ["http_proxy=" + server.url("")])
        let id = try other.begin(order { $0.url = url }, to: scratch("other"))
        #expect(try other.end(id).end.isComplete)
        // An order may say that there is none.
        let direct = order {
            $0.url = url
            $0.proxy = ""
        }
        let without = try other.begin(direct, to: scratch("direct"))
        #expect(try other.end(without).end.cause == .connection)
        let lost = try fetch(order { $0.proxy = "http://127.0.0.1:1" }).end
        if case .interrupted(let why) = lost {
            #expect(why.reason.hasPrefix("the proxy cannot be reached: "), "\(why)")
        }
        #expect(lost.cause == .connection)
    }

    // MARK: Disks

    @Test(.enabled(if: SmallDisk.isPossible)) func `a full disk interrupts, and nothing is kept`()
        throws
    {
        try Files.makeDirectory(scratch("disk"), permissions: 0o700)
        let disk = try #require(SmallDisk(at: scratch("disk"), megabytes: 4))
        defer { disk.unmount() }
        // The length is known: before anything is fetched.
        server.set("/large", .init(VersionedObject(version: 1, size: 6 << 20)))
        let large = try peer.begin(order("/large"), to: scratch("disk/large"))
        let (end, durable) = try peer.end(large)
        #expect(end.cause == .diskFull && durable == 0)
        // What was reserved is there for others.
        server.set("/fits", .init(VersionedObject(version: 1, size: 3 << 20)))
        let fits = try peer.begin(order("/fits"), to: scratch("disk/fits"))
        #expect(try peer.end(fits).end.isComplete)
        // The length is not known: when it is full. What came is kept.
        server.change("/large") { $0.isChunked = true }
        let more = try peer.begin(order("/large"), to: scratch("disk/more"))
        let (full, kept) = try peer.end(more)
        #expect(full.cause == .diskFull && kept > 0 && kept < 2 << 20)
        let bytes = try Files.read(scratch("disk/more"), limit: 1 << 23)
        let object = VersionedObject(version: 1, size: 6 << 20)
        let isSame = Array(bytes.prefix(Int(kept))) == object.bytes(at: 0, count: Int(kept))
        #expect(isSame)
    }
}
