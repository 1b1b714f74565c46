import DeviceCore
import Testing
import Vocabulary

/// The beginnings of the lists of a status, for who sees no more of them.
struct OverviewTests {
    private static func bench(apps: Int) -> Bench {
        var bench = Bench()
        bench.set(.power, 0)
        for number in 0..<apps {
            bench.install(.processing("app\(number)") { $0.processingNeeds = Needs(power: true) })
        }
        return bench
    }

    @Test(arguments: [0, 1, 29, 30, 31]) func `what is left out is counted`(rows: Int) {
        let bench = Self.bench(apps: 30)
        let all = bench.device.status(at: bench.now)
        let some = bench.device.status(at: bench.now, rows: rows)
        #expect(all.waiting.count == 30 && all.moreWaiting == nil)
        #expect(some.waiting == Array(all.waiting.prefix(rows)))
        #expect(some.moreWaiting == (rows < 30 ? Int64(30 - rows) : nil))
        #expect(some.requests == all.requests && some.apps == all.apps)
    }
}
