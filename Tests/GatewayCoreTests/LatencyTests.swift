import GatewayCore
import Testing
import Vocabulary

/// How long pushes took, as the core counts it.
struct LatencyTests {
    @Test func `a time belongs to the first bucket that it does not exceed`() {
        var times = LatencyHistogram()
        for bound in LatencyHistogram.bounds { times.record(bound) }
        #expect(times.counts == [UInt64](repeating: 1, count: times.counts.count - 1) + [0])
        let longest = LatencyHistogram.bounds.last ?? .zero
        times.record(longest + Interval(nanoseconds: 1))
        times.record(.zero)
        #expect(times.counts.first == 2)
        #expect(times.counts.last == 1)
        #expect(times.count == UInt64(LatencyHistogram.bounds.count) + 2)
    }

    @Test func `bounds rise, and the sum is in seconds`() {
        let bounds = LatencyHistogram.bounds
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
        var times = LatencyHistogram()
        times.record(.milliseconds(250))
        times.record(.seconds(2))
        times.record(.zero - .seconds(5))
        #expect(times.sum == 2.25)
    }

    @Test func `a push that is sent at once is timed until it is acknowledged`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let sent = bench.push().effects.sendings
        _ = bench.pass(.milliseconds(30))
        #expect(bench.gateway.deliveryTimes.count == 0)
        _ = bench.acknowledge(sent[0].id)
        #expect(bench.gateway.deliveryTimes.sum == 0.03)
        _ = bench.acknowledge(sent[0].id)
        #expect(bench.gateway.deliveryTimes.count == 1)
    }

    @Test func `one that is acknowledged too late is timed as well`() {
        var bench = GatewayBench()
        _ = bench.connect()
        let sent = bench.push().effects.sendings
        let late = bench.gateway.limits.acknowledgement + .seconds(1)
        #expect(bench.pass(late).storeReasons == [.unacknowledged])
        _ = bench.acknowledge(sent[0].id)
        #expect(bench.gateway.deliveryTimes.sum == Double(late.nanoseconds) / 1e9)
    }

    @Test func `one that waited for its device is not`() {
        var bench = GatewayBench()
        #expect(bench.push().effects.storeReasons == [.away])
        _ = bench.pass(.hours(1))
        let sent = bench.connect().sendings
        #expect(sent.count == 1)
        _ = bench.acknowledge(sent[0].id)
        #expect(bench.gateway.counters.delivered == 1)
        #expect(bench.gateway.deliveryTimes.count == 0)
    }
}
