import Testing
import Vocabulary
import Wire

/// Messages between the daemon and its network process: what one sends the other reads, and nothing
/// else is taken.
struct NetworkMessageTests {
    private static let order = ExchangeOrder(
        url: "https://example.org/a?b=c",
        headers: [HTTPField("Accept", "*/*")],
        resume: ResumePoint(offset: 5, validator: .entityTag("\"1\""), total: 10),
        errors: .fail,
        sizeLimit: 1 << 40,
        sha256: Array(repeating: 7, count: 32),
        rateLimit: 1000,
        proxy: ""
    )
    private static let answer = ExchangeAnswer(
        status: 206,
        headers: [HTTPField("ETag", "\"1\"")],
        url: "https://example.org/a",
        total: 10,
        validator: .lastModified("Sun, 01 Mar 2026 12:00:00 GMT"),
        offset: 5
    )

    static let orders: [NetworkOrder] = [
        .hello(version: 1), .begin(TransferID(1), order), .proceed(TransferID(2)),
        .stop(TransferID(3)),
    ]
    static let reports: [NetworkReport] = [
        .hello(version: 1), .answered(TransferID(1), answer),
        .progress(TransferID(1), received: 9, durable: 8),
        .ended(TransferID(1), .complete(size: 10), durable: 10),
        .ended(
            TransferID(1),
            .interrupted(.init(.busy, reason: "503", retryAfter: .minutes(1))),
            durable: 3
        ),
        .ended(TransferID(1), .failed(ExchangeFailure(.status, reason: "404")), durable: 0),
    ]

    @Test(arguments: orders) func `an order arrives as it was`(order: NetworkOrder) throws {
        #expect(try NetworkOrder(order.bytes()) == order)
    }

    @Test(arguments: reports) func `a report arrives as it was`(report: NetworkReport) throws {
        #expect(try NetworkReport(report.bytes()) == report)
    }

    /// What neither side may send, nor take when the other one does.
    static let wrongOrders: [NetworkOrder] = [
        .hello(version: 0), changed { $0.url = "file:///etc/passwd" },
        changed { $0.url = "http://a/\r\nX: y" },
        changed { $0.url = "http://a/" + String(repeating: "a", count: 9000) },
        changed { $0.headers = [HTTPField("A", "b\r\nC: d")] },
        changed { $0.headers = [HTTPField("A b", "c")] },
        changed { $0.headers = Array(repeating: HTTPField("A", "b"), count: 257) },
        changed { $0.headers = [HTTPField("A", String(repeating: "b", count: 70_000))] },
        changed { $0.resume?.offset = 0 }, changed { $0.resume?.offset = 11 },
        changed { $0.resume?.offset = -1 }, changed { $0.timeout = .zero },
        changed { $0.sizeLimit = -1 }, changed { $0.rateLimit = 0 },
        changed { $0.sha256 = [1, 2] }, changed { $0.proxy = "http://a\n" },
    ]

    private static func changed(_ change: (inout ExchangeOrder) -> Void) -> NetworkOrder {
        var order = order
        change(&order)
        return .begin(TransferID(1), order)
    }

    @Test(arguments: wrongOrders) func `an order that no daemon sends is refused`(
        order: NetworkOrder
    ) throws {
        #expect(throws: NetworkError.self) { try order.bytes() }
        let bytes = try ValueEncoder().bytes(order)
        #expect(throws: NetworkError.self) { try NetworkOrder(bytes) }
    }

    static let wrongReports: [NetworkReport] = [
        .progress(TransferID(1), received: 8, durable: 9),
        .progress(TransferID(1), received: -1, durable: -1),
        .ended(TransferID(1), .complete(size: 10), durable: 9),
        .ended(
            TransferID(1),
            .interrupted(.init(.busy, retryAfter: .seconds(1))),
            durable: 0
        ),
        .ended(TransferID(1), .failed(ExchangeFailure(.status, reason: "a\u{1B}[2J")), durable: 0),
        changed { $0.offset = 11 }, changed { $0.startsAnew = true },
        changed { $0.url = "javascript:alert(1)" }, changed { $0.validator = .entityTag("") },
        changed { $0.status = -1 },
    ]

    private static func changed(_ change: (inout ExchangeAnswer) -> Void) -> NetworkReport {
        var answer = answer
        change(&answer)
        return .answered(TransferID(1), answer)
    }

    @Test(arguments: wrongReports) func `a report that no network process sends is refused`(
        report: NetworkReport
    ) throws {
        #expect(throws: NetworkError.self) { try report.bytes() }
        let bytes = try ValueEncoder().bytes(report)
        #expect(throws: NetworkError.self) { try NetworkReport(bytes) }
    }

    @Test func `bytes that are no message are refused`() {
        for bytes in [[], [0xFF], Array("hello".utf8), Array(repeating: 0, count: 200_000)] {
            #expect(throws: NetworkError.self) { try NetworkOrder(bytes) }
            #expect(throws: NetworkError.self) { try NetworkReport(bytes) }
        }
    }
}
