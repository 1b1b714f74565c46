import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

@testable import DeviceShell

@Suite struct EventLogFileTests {
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
            log.append(event, at: now, decisions)
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
