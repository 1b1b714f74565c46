import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

@testable import DeviceShell

@Suite struct EventLogFileTests {
    private func add(_ count: Int, to log: inout EventLogFile, _ device: inout Device) {
        let now = Clocks.now()
        for _ in 0..<count {
            var decisions: [Effect] = []
            device.handle(.timer, at: now, into: &decisions)
            log.append(TimedEvent(.timer, at: now), decisions)
        }
    }

    @Test("a burst ends the log, and a new one begins when it is over")
    func burst() throws {
        let scratch = ScratchDirectory()
        var device = Device()
        var log = EventLogFile(directory: scratch.path, build: "this")
        log.begin(with: device)
        add(2, to: &log, &device)
        for _ in 0..<3 { log.writeNext(continuingWith: device) }
        add(EventLogFile.patience + 1, to: &log, &device)
        let (isBehind, isWaiting) = (log.isBehind, log.isWaiting)
        #expect(isBehind && isWaiting)
        // It goes on.
        add(EventLogFile.patience, to: &log, &device)
        log.writeNext(continuingWith: device)
        let isStill = log.isBehind
        #expect(isStill)
        add(1, to: &log, &device)
        log.writeNext(continuingWith: device)
        add(5, to: &log, &device)
        while log.isWaiting { log.writeNext(continuingWith: device) }
        for (name, events) in [("events.log.1", 2), ("events.log", 5)] {
            let replay = try Replay(Files.read(scratch(name)))
            #expect(replay.events == events && replay.difference == nil && !replay.isCutShort)
        }
    }

    @Test("only what would hold up others waits for a pause")
    func heavy() throws {
        let scratch = ScratchDirectory()
        let now = Clocks.now()
        for (count, expected) in [(1, false), (EventLogFile.patience + 1, true)] {
            var log = EventLogFile(directory: scratch.path, build: "this")
            log.begin(with: Device())
            log.writeNext(continuingWith: Device())
            let change = Change.delete(RecordKey(.app, "app"))
            let decisions = [Effect.save(Array(repeating: change, count: count))]
            log.append(TimedEvent(.timer, at: now), decisions)
            let isHeavy = log.isHeavy
            #expect(isHeavy == expected, "\(count)")
            log.writeNext(continuingWith: Device())
            let isStill = log.isHeavy
            #expect(!isStill)
        }
    }

    @Test("what waits is written piece by piece, in its order, and replays")
    func pieceByPiece() throws {
        let scratch = ScratchDirectory()
        var device = Device()
        var log = EventLogFile(directory: scratch.path, build: "this")
        log.begin(with: device)
        let now = Clocks.now()
        for seed in 1...3 as ClosedRange<Int64> {
            let event = Event.started(Start(bootID: "boot", seed: seed, settings: Settings()))
            var decisions: [Effect] = []
            device.handle(event, at: now, into: &decisions)
            log.append(TimedEvent(event, at: now), decisions)
        }
        for events in 0...3 {
            log.writeNext(continuingWith: device)
            let replay = try Replay(Files.read(scratch("events.log")))
            #expect(replay.events == events && replay.difference == nil && !replay.isCutShort)
            let isWaiting = log.isWaiting
            #expect(isWaiting == (events < 3))
        }
    }
}
