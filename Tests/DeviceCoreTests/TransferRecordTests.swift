import DeviceCore
import Testing
import Vocabulary

@testable import DeviceCore

/// Records of transfers are written by hand, and read as the compiler has it: each field must come
/// back.
struct TransferRecordTests {
    private static let answer = ExchangeAnswer(status: 206, url: "http://a/", total: 20)
    private static let point = ResumePoint(
        offset: 1,
        validator: .entityTag("\"a\""),
        total: 20
    )
    private static let head = KeptHead(url: "http://b/", fields: [HTTPField("X-Two", "3")])
    private static let interruption = ExchangeEnd.Interruption(.busy, reason: "503")

    /// No field has the value that a new transfer has.
    private static let full: Transfer = {
        var order = TransferOrder(
            url: "https://a.example/b",
            headers: [HTTPField("X-One", "1"), HTTPField("X-One", "2")],
            direction: .upload(
                UploadRequest(
                    method: .post,
                    source: FileIdentity(size: 20, modified: -5, inode: 7),
                    mayRepeat: true
                )
            ),
            directory: "/d",
            name: "n",
            overwrites: true,
            isDiscretionary: true,
            needs: Needs(power: true, unmetered: true),
            earliest: WallTime(nanoseconds: 5),
            errors: .deliver,
            sha256: [UInt8](repeating: 3, count: 32),
            timeout: .seconds(1),
            resourceTimeout: .seconds(2),
            rateLimit: 9,
            proxy: ""
        )
        order.delay = .seconds(4)
        order.credentials = CredentialFiles()
        order.credentials?.netrc = "/n"
        (order.notifies, order.moreConnections, order.permissions) = (true, 3, 0o640)
        var transfer = Transfer(
            id: TransferID(8),
            order: order,
            submittedAt: WallTime(nanoseconds: 6),
            task: SessionTask(session: "s", number: 4, ignoresCookies: true)
        )
        transfer.task?.original = SessionTask.OriginalRequest(
            url: "http://a/",
            headers: [],
            ignoresCookies: true
        )
        transfer.countsFrom = WallTime(nanoseconds: 7)
        transfer.state = .placing(size: 20)
        transfer.resume = FetchedPart(point: point, head: head)
        transfer.upload = UploadProgress()
        transfer.upload?.sent = SentPart(count: 3, sha256: [1, 2])
        transfer.retry = Transfer.Retry(
            at: WallTime(nanoseconds: 9),
            wait: .seconds(3),
            attempts: 2,
            interruption: interruption
        )
        (transfer.name, transfer.formers, transfer.rank) = ("name", ["/former"], -4)
        transfer.group = TransferGroup(first: TransferID(7), count: 2)
        (transfer.modified, transfer.inode, transfer.answer) = ("then", 11, answer)
        transfer.kept = KeptPart(token: "t", until: WallTime(nanoseconds: 1))
        (transfer.partOf, transfer.isAlone) = (TransferID(2), true)
        transfer.question = TransferQuestion(
            number: 5,
            kind: .unauthorized(answer),
            since: WallTime(nanoseconds: 2),
            failures: 1
        )
        transfer.logins = [
            TransferLogin(number: 1, url: "http://a/", challenge: HTTPChallenge(scheme: "basic"))
        ]
        (transfer.refusals, transfer.takesRefusal, transfer.isConfirmed) = (1, true, true)
        return transfer
    }()

    private static let states: [Transfer.State] = [
        .paused, .waiting, .placing(size: 3),
        .running(.init(since: BootTime(nanoseconds: 3), received: 4)),
        .ended(.finished(size: 3, name: "n"), at: WallTime(nanoseconds: 2)),
        .ended(.failed(.exists("n")), at: WallTime(nanoseconds: 2)),
        .ended(.failed(.init(code: .exchange(.badURL), reason: "r")), at: .distantPast),
        .ended(.cancelled, at: WallTime(nanoseconds: 2)),
    ]

    private static func again<T: Codable>(_ value: T) throws -> T {
        try ValueDecoder().decode(T.self, from: ValueEncoder().bytes(value))
    }

    @Test func `what is written of a transfer is read again`() throws {
        var transfer = Self.full
        #expect(try Self.again(transfer) == transfer)
        for state in Self.states {
            transfer.state = state
            #expect(try Self.again(transfer) == transfer)
        }
        let plain = Transfer(
            id: TransferID(1),
            order: TransferOrder(url: "http://a/", directory: "/"),
            submittedAt: .distantPast
        )
        #expect(try Self.again(plain) == plain)
        let record = Record.transfer(TransferRecord(AppID("a"), plain))
        #expect(try Record(record.key, record.value) == record)
    }

    /// A new field must be set above, so that the test before can see it.
    @Test func `each field of a transfer is tried`() {
        let plain = Transfer(
            id: TransferID(1),
            order: TransferOrder(url: "http://a/", directory: "/"),
            submittedAt: .distantPast
        )
        func same(_ one: Any, _ other: Any) -> [String] {
            zip(Mirror(reflecting: one).children, Mirror(reflecting: other).children)
                .filter { String(reflecting: $0.value) == String(reflecting: $1.value) }
                .map { $0.0.label ?? "" }
        }
        #expect(same(Self.full, plain).isEmpty)
        #expect(same(Self.full.order, plain.order).isEmpty)
    }

    @Test func `what version 11 of the store has of a part is read`() throws {
        let old = try ValueEncoder().bytes(Self.point)
        let part = try ValueDecoder().decode(FetchedPart.self, from: old)
        #expect(part == FetchedPart(point: Self.point, head: nil))
        #expect(try ValueEncoder().bytes(part) == old)
    }

    @Test func `the line of a transfer is read again, and so is any other`() throws {
        let ends: [TransferEnd] = [
            .cancelled, .failed(.exists("n")), .finished(size: 1, name: "n"),
        ]
        let lines = ends.map { HistoryLine.Entry.transferred(TransferID(3), url: "http://a/", $0) }
        for entry in lines + [.note("n"), .use(.left), .dropped(identifier: "i", reason: "r")] {
            let line = HistoryLine(
                at: WallTime(nanoseconds: 4),
                utcOffset: -3600,
                app: AppID("a"),
                entry: entry
            )
            #expect(try Self.again(line) == line)
        }
    }
}
