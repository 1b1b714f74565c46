@testable import DeviceCore
import Testing
import Vocabulary

/// How many small transfers are begun before those of their host have ended.
struct TransferPaceTests {
    /// The last six decide: five spans of time.
    @Test(arguments: [(60, 0), (50, 31), (25, 62), (10, 96), (0, 96)])
    func `as many are begun ahead as end in about a second`(_ step: Int64, _ ahead: Int) throws {
        var bench = Bench()
        bench.set(.network, 0)
        let orders = (1...400).map { number in
            TransferOrder(url: "http://example.org/\(number)", directory: "/files")
        }
        bench.ask(.transfer(.enqueue(orders, token: nil)))
        bench.set(.network, 2)
        bench.advance(.seconds(10))
        for _ in 0..<6 {
            #expect(running(bench).count == 6)
            bench.advance(.milliseconds(step))
            let first = try #require(running(bench).first)
            bench.report(first.id, .ended(.complete(size: 1), durable: 1))
        }
        #expect(running(bench).count == 6 + ahead)
        // Other hosts keep their connections.
        let other = TransferOrder(url: "http://example.net/1", directory: "/files")
        bench.ask(.transfer(.enqueue([other], token: nil)))
        #expect(running(bench).count == 6 + ahead + 1)
    }

    private func running(_ bench: Bench) -> [Transfer] {
        bench.device.transfers.all().filter(\.isRunning)
    }
}
