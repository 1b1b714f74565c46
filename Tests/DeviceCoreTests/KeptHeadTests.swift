@testable import DeviceCore
import Testing
import Vocabulary

/// What the first answer has said of a file is known when another attempt brings the rest: an
/// answer to `If-Range` says which part of which version it is, and need not say more.
struct KeptHeadTests {
    private var bench = Bench()
    private static let url = "http://example.org/get.php"
    private static let date = "Sun, 01 Mar 2026 12:00:00 GMT"
    private static let tag = "\"1\""
    private static let length = HTTPField("Content-Length", "100")

    private static let first = answer(
        200,
        [
            HTTPField("Content-Disposition", "attachment; filename=\"report.pdf\""),
            HTTPField("Last-Modified", date), HTTPField("Content-Type", "application/pdf"),
            HTTPField("ETag", tag), length, HTTPField("Set-Cookie", "a=b"),
        ]
    )
    private static let partFields = [
        HTTPField("content-range", "bytes 40-99/100"), HTTPField("content-length", "60"),
        HTTPField("etag", tag),
    ]
    private static let part = answer(206, partFields)

    /// Of a version of 100 bytes.
    private static func answer(
        _ status: Int,
        _ fields: [HTTPField],
        _ tag: String = tag,
        startsAnew: Bool = false
    ) -> ExchangeAnswer {
        ExchangeAnswer(
            status: status,
            headers: fields,
            url: url,
            total: 100,
            validator: .entityTag(tag),
            offset: status == 206 ? 40 : 0,
            startsAnew: startsAnew
        )
    }

    /// Whose length is not said.
    private static let chunked: ExchangeAnswer = {
        var answer = first
        answer.total = nil
        answer.headers.removeAll { $0 == length }
        return answer
    }()

    // MARK: Files of the user

    private struct DidNotEnqueue: Error {}

    /// It has 40 bytes, and its second attempt has begun.
    private mutating func goingOn(after first: ExchangeAnswer = first) throws -> TransferID {
        let order = TransferOrder(url: Self.url, directory: "/home/user")
        bench.ask(.transfer(.enqueue([order], token: nil)))
        guard case .transfers(let ids)? = bench.reply, let id = ids.first else {
            throw DidNotEnqueue()
        }
        bench.report(id, .answered(first))
        bench.report(id, .progress(received: 60, durable: 40))
        try interrupt(id)
        return id
    }

    private mutating func interrupt(_ id: TransferID) throws {
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 40))
        bench.advance(try #require(bench.transfer(id)?.retry).wait)
        #expect(try #require(bench.begun[id]).exchange.resume?.offset == 40)
    }

    private mutating func placement(of id: TransferID, size: Int64 = 100) throws -> Placement {
        bench.report(id, .ended(.complete(size: size), durable: size))
        return try #require(bench.placed[id])
    }

    @Test(arguments: [false, true])
    mutating func `a part that says nothing of the file leaves it its name and its time`(
        isRestarted: Bool
    ) throws {
        let id = try goingOn()
        if isRestarted { try bench.restart() }
        let point = ResumePoint(offset: 40, validator: .entityTag(Self.tag), total: 100)
        #expect(bench.begun[id]?.exchange.resume == point)
        bench.report(id, .answered(Self.part))
        let look = TransferAction.look(directory: "/home/user", name: "report.pdf")
        #expect(bench.contains(.transfer(id, look)))
        let placement = try placement(of: id)
        #expect(placement.name == "report.pdf" && placement.modified == Self.date)
    }

    @Test mutating func `it is known after many parts`() throws {
        let id = try goingOn()
        for _ in 0..<3 {
            bench.report(id, .answered(Self.part))
            try interrupt(id)
        }
        bench.report(id, .answered(Self.part))
        let placement = try placement(of: id)
        #expect(placement.name == "report.pdf" && placement.modified == Self.date)
    }

    /// An answer that says that nothing is missing is not told, and sometimes nobody is asked.
    @Test mutating func `what was all there already is named by the answer that brought it`() throws
    {
        let id = try goingOn(after: Self.chunked)
        let placement = try placement(of: id, size: 40)
        #expect(placement.name == "report.pdf" && placement.modified == Self.date)
    }

    @Test mutating func `a name that comes from a redirect is known as well`() throws {
        var moved = Self.answer(200, [])
        moved.url = "http://example.org/report-2.pdf"
        let id = try goingOn(after: moved)
        #expect(try placement(of: id, size: 40).name == "report-2.pdf")
    }

    @Test mutating func `what a part says itself counts`() throws {
        let id = try goingOn()
        var part = Self.part
        part.headers.append(HTTPField("content-disposition", "attachment; filename=new.pdf"))
        bench.report(id, .answered(part))
        let placement = try placement(of: id)
        #expect(placement.name == "new.pdf" && placement.modified == Self.date)
    }

    @Test mutating func `another version has nothing of what was said of the first`() throws {
        let id = try goingOn()
        let other = "\"2\""
        bench.report(id, .answered(Self.answer(200, [], other, startsAnew: true)))
        #expect(bench.stored(id)?.resume == nil)
        bench.report(id, .progress(received: 60, durable: 40))
        try interrupt(id)
        bench.report(id, .answered(Self.answer(206, [HTTPField("ETag", other)], other)))
        let placement = try placement(of: id)
        #expect(placement.name == "get.php" && placement.modified == nil)
    }

    // MARK: Tasks of apps

    private static func order(_ number: Int64, resume: String? = nil) -> SessionOrder {
        SessionOrder(
            task: SessionTask(session: "photos", number: number),
            order: TransferOrder(
                url: url,
                directory: "/spool",
                overwrites: true,
                errors: .deliver
            ),
            resume: resume
        )
    }

    /// The same of a task.
    private func task(
        after first: ExchangeAnswer = first
    ) throws -> (Bench, LaunchID, TransferID) {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.askSession(launch, .enqueue([Self.order(1)], token: nil))
        let id = try #require(bench.sessionTasks.first)
        bench.report(id, .answered(first))
        bench.report(id, .progress(received: 60, durable: 40))
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 40))
        bench.advance(.seconds(3))
        #expect(bench.begun(id)?.resume?.offset == 40)
        return (bench, launch, id)
    }

    private func told(
        _ bench: inout Bench,
        _ launch: LaunchID,
        _ id: TransferID,
        size: Int64 = 100
    ) throws -> SessionTaskEnd {
        bench.report(id, .ended(.complete(size: size), durable: size))
        bench.report(id, .placed(name: "\(id).download"))
        return try #require(bench.ends(launch).first)
    }

    @Test func `a task is told what its file would have come with as a whole`() throws {
        var (bench, launch, id) = try task()
        bench.report(id, .answered(Self.part))
        let end = try told(&bench, launch, id)
        #expect(end.status == 200 && end.url == Self.url)
        let headers = try #require(end.headers)
        for name in ["Content-Disposition", "Last-Modified", "Content-Type", "ETag"] {
            #expect(headers.values(of: name) == Self.first.headers.values(of: name))
        }
        #expect(headers.values(of: "Content-Length") == ["100"])
        #expect(headers.value(of: "Content-Range") == nil)
        // It may have another by now.
        #expect(headers.value(of: "Set-Cookie") == nil)
    }

    @Test func `a part that says all is told as it is, but for what makes it a part`() throws {
        var (bench, launch, id) = try task()
        let said = Self.first.headers.filter { $0 != Self.length }
        bench.report(id, .answered(Self.answer(206, Self.partFields.dropLast() + said)))
        let end = try told(&bench, launch, id)
        #expect(end.status == 200 && end.headers == said + [Self.length])
    }

    @Test func `a task of which all was there already is told the answer that brought it`() throws {
        var (bench, launch, id) = try task(after: Self.chunked)
        let end = try told(&bench, launch, id, size: 40)
        #expect(end.status == 200 && end.url == Self.url && end.size == 40)
        #expect(end.headers == Self.chunked.headers.filter { $0.name != "Set-Cookie" })
    }

    @Test func `a task that goes on with what another has fetched knows its answer`() throws {
        var (bench, launch, old) = try task()
        bench.askSession(launch, .keep([1]))
        bench.report(old, .ended(.interrupted(.init(.stopped)), durable: 40))
        let token = try #require(bench.ends(launch).first?.resume)
        bench.say(launch, .acknowledged(old))
        bench.askSession(launch, .enqueue([Self.order(2, resume: token)], token: nil))
        let id = try #require(bench.sessionTasks.first)
        bench.report(id, .answered(Self.part))
        let end = try told(&bench, launch, id)
        #expect(end.headers?.value(of: "Content-Type") == "application/pdf")
    }

    // MARK: What is kept

    /// As much as a server may say.
    private static let long: ExchangeAnswer = {
        var answer = first
        let more = (0..<200).map { HTTPField("X-\($0)", String(repeating: "x", count: 300)) }
        let passing = ["Connection", "Keep-Alive", "Transfer-Encoding"].map { HTTPField($0, "x") }
        answer.headers = more + passing + first.headers
        return answer
    }()

    @Test mutating func `of a user's file only its name and its time are kept`() throws {
        let id = try goingOn(after: Self.long)
        let head = try #require(bench.stored(id)?.resume?.head)
        #expect(head.url == nil)
        #expect(head.fields.map(\.name) == ["Content-Disposition", "Last-Modified"])
        // And no name that is longer than any file's.
        var endless = Self.first
        endless.headers[0].value += String(repeating: " ", count: KeptHead.longestField)
        endless.url = Self.url + String(repeating: "x", count: KeptHead.longestField)
        let other = try goingOn(after: endless)
        let rest = try #require(bench.stored(other)?.resume?.head)
        #expect(rest.url == nil && rest.fields.map(\.name) == ["Last-Modified"])
    }

    @Test func `of what an app may want few and short fields are kept`() throws {
        let (bench, _, id) = try task(after: Self.long)
        let fields = try #require(bench.stored(id)?.resume?.head).fields
        let names = fields.map(\.name)
        #expect(
            names.prefix(6) == [
                "Content-Disposition", "Last-Modified", "Content-Type", "ETag", "Content-Length",
                "X-0",
            ]
        )
        #expect(names.dropFirst(5).allSatisfy { $0.hasPrefix("X-") })
        let size = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        #expect(size <= KeptHead.longest && size > KeptHead.longest - 310)
        var many = Self.first
        many.headers += (0..<200).map { HTTPField("X-\($0)", "") }
        let (other, _, task) = try self.task(after: many)
        #expect(other.stored(task)?.resume?.head?.fields.count == KeptHead.mostFields)
    }
}
