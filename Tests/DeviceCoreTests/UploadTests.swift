import DeviceCore
import Testing
import Vocabulary

/// Uploads as the device decides them: what each attempt goes on with, and when there is none.
struct UploadTests {
    private var bench = Bench()
    private static let source = FileIdentity(size: 100, modified: 5, inode: 7)
    private static let made = UploadResource(url: "http://example.org/made/1", interop: .eight)
    private static let lost = TransferEvent.ended(.interrupted(.init(.shortage)), durable: nil)

    private mutating func enqueue(
        _ method: UploadMethod,
        mayRepeat: Bool? = nil,
        headers: [HTTPField] = [],
        proxy: String? = nil
    ) throws -> TransferID {
        let request = UploadRequest(
            method: method,
            source: Self.source,
            mayRepeat: mayRepeat ?? (method == .put)
        )
        let order = TransferOrder(
            url: "http://example.org/in",
            headers: headers,
            direction: .upload(request),
            directory: "/home/user",
            name: "photo.jpg",
            proxy: proxy
        )
        let reply = bench.ask(.transfer(.enqueue([order], token: nil)))
        guard case .transfers(let ids) = reply else { throw DidNotEnqueue() }
        return try #require(ids.first)
    }

    private struct DidNotEnqueue: Error {}

    private mutating func interrupt(_ id: TransferID, confirmed: Int64? = 0) {
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: confirmed))
        bench.advance(bench.transfer(id)?.retry?.wait ?? .zero)
    }

    @Test mutating func `an upload begins with its file, and ends when the server has it`() throws {
        let id = try enqueue(.put)
        let begun = try #require(bench.sent[id])
        #expect(begun.order.url == "http://example.org/in" && begun.order.source == Self.source)
        #expect(begun.order.resource == nil && begun.order.mayRepeat)
        #expect(begun.file == UploadFile(directory: "/home/user", name: "photo.jpg"))
        bench.report(id, .progress(received: 60, durable: 0))
        #expect(bench.transfer(id)?.received == 60 && bench.transfer(id)?.total == 100)
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        #expect(bench.stored(id)?.state.isFinished == true)
        #expect(bench.placed.isEmpty && bench.discarded.isEmpty)
        #expect(bench.transferLines == ["finished"])
    }

    @Test mutating func `what the server has made and confirmed outlives the daemon`() throws {
        let id = try enqueue(.post)
        bench.report(id, .resource(Self.made))
        bench.report(id, .progress(received: 60, durable: 40))
        #expect(bench.stored(id)?.upload?.resource?.offset == 40)
        try bench.restart()
        var resource = Self.made
        resource.offset = 40
        #expect(bench.sent[id]?.order.resource == resource)
        bench.report(id, .resource(nil))
        #expect(bench.stored(id)?.upload?.resource == nil)
    }

    @Test mutating func `what was sent to it is stored, and told to the next attempt`() throws {
        let id = try enqueue(.post)
        let part = SentPart(count: 60, sha256: Bytes([UInt8](repeating: 9, count: 32)))
        // Without a resource it is of no use.
        bench.report(id, .sent(part))
        #expect(bench.stored(id)?.upload?.sent == nil)
        bench.report(id, .resource(Self.made))
        bench.report(id, .sent(part))
        #expect(bench.stored(id)?.upload?.sent == part)
        try bench.restart()
        #expect(bench.sent[id]?.order.sent == part)
        // Another one begins without it.
        bench.report(id, .resource(nil))
        #expect(bench.stored(id)?.upload?.sent == nil)
    }

    /// The record is stored before the first byte can be sent.
    @Test mutating func `without a resource a POST of which nobody knows is not repeated`() throws {
        for dies in [true, false] {
            let id = try enqueue(.post)
            let save = bench.effects.firstIndex { if case .save = $0 { true } else { false } }
            let begin = bench.effects.firstIndex {
                if case .transfer(_, .upload) = $0 { true } else { false }
            }
            #expect(try #require(save) < #require(begin))
            if dies { try bench.restart() } else { bench.report(id, Self.lost) }
            #expect(bench.sent[id] == nil)
            guard case .ended(.failed(let failure), _) = bench.stored(id)?.state else {
                Issue.record("it has not failed")
                continue
            }
            #expect(failure.code == .exchange(.uncertain))
        }
    }

    @Test mutating func `with leave for it, and by PUT, it is repeated`() throws {
        for (method, mayRepeat) in [(UploadMethod.put, true), (.post, true), (.patch, true)] {
            let id = try enqueue(method, mayRepeat: mayRepeat)
            try bench.restart()
            #expect(bench.sent[id] != nil)
            bench.report(id, Self.lost)
            bench.advance(.seconds(3))
            #expect(bench.sent[id] != nil)
        }
    }

    @Test mutating func `an attempt that says it was harmless is repeated`() throws {
        let id = try enqueue(.post)
        interrupt(id)
        #expect(bench.sent[id] != nil)
        // And this one is not known again.
        try bench.restart()
        #expect(bench.stored(id)?.end == "failed")
    }

    @Test mutating func `a server that does not answer to one draft is offered the other`() throws {
        let id = try enqueue(.put)
        #expect(bench.sent[id]?.order.interop == .eight)
        // Nothing was sent.
        interrupt(id)
        #expect(bench.sent[id]?.order.interop == .eight)
        bench.report(id, .progress(received: 60, durable: 0))
        interrupt(id)
        #expect(bench.sent[id]?.order.interop == .six)
    }

    @Test mutating func `each POST has a key that stays the same`() throws {
        let id = try enqueue(.post)
        let key = try #require(bench.sent[id]?.order.headers.value(of: "Idempotency-Key"))
        interrupt(id)
        #expect(bench.sent[id]?.order.headers.value(of: "Idempotency-Key") == key)
        let other = try enqueue(.post)
        #expect(bench.sent[other]?.order.headers.value(of: "Idempotency-Key") != key)
        let own = try enqueue(.post, headers: [HTTPField("idempotency-key", "mine")])
        #expect(bench.sent[own]?.order.headers == [HTTPField("idempotency-key", "mine")])
        let put = try enqueue(.put)
        #expect(bench.sent[put]?.order.headers == [])
    }

    @Test mutating func `an upload that is complete was not cancelled`() throws {
        let id = try enqueue(.post)
        bench.ask(.transfer(.cancel([id])))
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        #expect(bench.transferLines == ["finished"])
        let other = try enqueue(.post)
        bench.ask(.transfer(.cancel([other])))
        bench.report(other, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.stored(other)?.end == "cancelled" && bench.discarded.isEmpty)
    }

    @Test(arguments: [nil, "", "http://own:1"] as [String?])
    mutating func `a server is asked to forget an upload by way of the upload's proxy`(
        own: String?
    ) throws {
        bench.configure { $0.transferProxy = "http://proxy:1" }
        let proxy = own ?? "http://proxy:1"
        let id = try enqueue(.post, proxy: own)
        #expect(bench.sent[id]?.order.proxy == proxy)
        bench.report(id, .resource(Self.made))
        bench.ask(.transfer(.cancel([id])))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.removal(id)?.proxy == proxy)
    }

    @Test mutating func `progress begins the doubling of waits anew`() throws {
        let id = try enqueue(.put)
        bench.report(id, .resource(Self.made))
        for _ in 0..<4 { interrupt(id) }
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 50))
        #expect(bench.transfer(id)?.retry?.attempts == 1)
    }

    @Test mutating func `an upload without a file is refused, and so are headers of its own`() {
        let request = UploadRequest(method: .put, source: Self.source, mayRepeat: true)
        var order = TransferOrder(
            url: "http://example.org/in",
            direction: .upload(request),
            directory: "/home/user"
        )
        for change in 0..<2 {
            if change == 1 {
                order.name = "a"
                order.headers = [HTTPField("Upload-Complete", "?1")]
            }
            let reply = bench.ask(.transfer(.enqueue([order], token: nil)))
            if case .refused = reply { continue }
            Issue.record("it is taken")
        }
    }
}

extension Bench {
    /// Uploads that the last effects begin.
    fileprivate var sent: [TransferID: (order: UploadOrder, file: UploadFile)] {
        var sent: [TransferID: (order: UploadOrder, file: UploadFile)] = [:]
        for case .transfer(let id, .upload(let order, let file)) in effects {
            sent[id] = (order, file)
        }
        return sent
    }

    /// What the server is asked to forget.
    fileprivate func removal(_ id: TransferID) -> UploadRemoval? {
        effects.compactMap {
            if case .transfer(id, .remove(let removal)) = $0 { removal } else { nil }
        }.first
    }
}
