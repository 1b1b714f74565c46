@testable import DeviceShell
import DeviceCore
import EventLoop
import Testing
import Vocabulary

/// What is told of the memory that launches were seen to have.
struct PeakSamplesTests {
    private static func usage(_ memory: Int64, peak: Int64, isCounted: Bool) -> Usage {
        var usage = Usage(cpu: .zero, memory: memory << 20)
        (usage.peak, usage.isPeakSampled) = (peak << 20, !isCounted)
        return usage
    }

    @Test func `what has grown by a quarter is told, and the rest at the end`() throws {
        var told: [Int64] = []
        let peaks = try PeakSamples(EventLoop(), measure: { _ in nil }) { _, memory in
            told.append(memory >> 20)
        }
        let launch = LaunchID(1)
        peaks.begin(launch)
        for memory: Int64 in [30, 33, 40, 1, 45] {
            peaks.recordUsage(launch, Self.usage(memory, peak: memory, isCounted: false))
        }
        #expect(told == [30, 40])
        peaks.end(launch)
        #expect(told == [30, 40, 45])
        peaks.end(launch)
        #expect(told.count == 3)
    }

    /// Of two steps at once: a process that could not be taken into a group has signals.
    @Test func `a launch that the kernel counts stops nobody from looking at another`() throws {
        var told: [LaunchID] = []
        let peaks = try PeakSamples(EventLoop(), measure: { _ in nil }) { id, _ in
            told.append(id)
        }
        for id in [LaunchID(1), LaunchID(2)] { peaks.begin(id) }
        peaks.recordUsage(LaunchID(1), Self.usage(50, peak: 60, isCounted: true))
        peaks.recordUsage(LaunchID(2), Self.usage(30, peak: 30, isCounted: false))
        #expect(told == [LaunchID(2)])
    }

    @Test(arguments: [true, false])
    func `of one that goes on, an earlier peak is not told again`(isCounted: Bool) throws {
        var told: [Int64] = []
        let earlier = Self.usage(20, peak: 150, isCounted: isCounted)
        let peaks = try PeakSamples(EventLoop(), measure: { _ in earlier }) { _, memory in
            told.append(memory >> 20)
        }
        let launch = LaunchID(1)
        peaks.begin(launch)
        peaks.rest(launch)
        peaks.goOn(launch)
        peaks.recordUsage(launch, Self.usage(100, peak: 150, isCounted: isCounted))
        #expect(told == [100])
        peaks.recordUsage(launch, Self.usage(20, peak: 160, isCounted: isCounted))
        #expect(told == [100, 160])
    }

    @Test func `what the core asked for is not told twice`() throws {
        var told: [Int64] = []
        let peaks = try PeakSamples(EventLoop(), measure: { _ in nil }) { _, memory in
            told.append(memory >> 20)
        }
        let launch = LaunchID(1)
        peaks.begin(launch)
        peaks.told(launch, Self.usage(40, peak: 40, isCounted: false))
        peaks.recordUsage(launch, Self.usage(41, peak: 40, isCounted: false))
        #expect(told.isEmpty)
    }
}
