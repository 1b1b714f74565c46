import DeviceCore
import Testing
import Vocabulary

/// What is told to who watches transfers: numbers of all, and reports of few.
struct TransferProgressTests {
    private var bench = Bench()

    /// So many downloads.
    private mutating func enqueue(_ count: Int, online: Bool = false) -> [TransferID] {
        if !online { bench.set(.network, 0) }
        let orders = (0..<count).map {
            TransferOrder(url: "http://example.org/\($0)", directory: "/home/user")
        }
        guard case .transfers(let ids) = bench.ask(.transfer(.enqueue(orders, token: nil))) else {
            Issue.record("they were not taken")
            return []
        }
        return ids
    }

    private func progress(
        _ ids: [TransferID]? = nil,
        rows: Int = 0,
        ended: Int = 0
    ) -> Report.TransferProgress {
        bench.device.transferProgress(of: ids, rows: rows, ended: ended, at: bench.now)
    }

    @Test mutating func `all are counted, and as many told as are asked for`() {
        let ids = enqueue(30)
        bench.ask(.transfer(.cancel(Array(ids[..<3]))))
        bench.ask(.transfer(.pause([ids[3]])))
        let told = progress(rows: 4, ended: 2)
        #expect(told.all == 30 && told.open == 27)
        #expect(told.waiting == 26 && told.paused == 1 && told.cancelled == 3)
        #expect(told.shown.map(\.id) == Array(ids[3..<7]))
        #expect(told.ended.map(\.id) == Array(ids[1..<3]))
        #expect(progress().shown.isEmpty && progress().ended.isEmpty)
    }

    @Test mutating func `what runs is told first, however little is asked for`() {
        let ids = enqueue(10, online: true)
        let running = bench.device.transferList(at: bench.now).filter { $0.state == .running }
        #expect(!running.isEmpty && running.count < ids.count)
        let told = progress(rows: 1)
        #expect(told.running == Int64(running.count))
        #expect(told.shown.map(\.id) == running.map(\.id))
        let more = progress(rows: running.count + 1)
        #expect(more.shown.count == running.count + 1)
        #expect(more.shown.last?.state.known == .waiting)
    }

    @Test mutating func `of named ones that are gone nothing is told`() {
        let ids = enqueue(3)
        let told = progress([ids[2], TransferID(999), ids[0]], rows: 10)
        #expect(told.all == 2 && told.open == 2)
        #expect(told.shown.map(\.id) == [ids[2], ids[0]])
    }
}
