import EventLoop
import Linux
import SystemBus
import Vocabulary

/// `offstage-wake`: wakes the machine at a time, and sends it back to sleep after that. Started by
/// the system's message bus when a daemon calls it, and gone when it has nothing to remember.
package enum WakeProgram {
    private static let usage = """
        usage: offstage-wake
        Wakes the machine for Offstage and sends it back to sleep. The system's message bus starts
        it; there is nothing to do by hand. See offstage-wake(8).

        """

    package static func main(_ words: [String]) -> Int32 {
        guard words.isEmpty else {
            let isHelp = words == ["--help"]
            say(usage, to: isHelp ? 1 : 2)
            return isHelp ? 0 : 2
        }
        do {
            let loop = try EventLoop()
            let bus = try Bus.system()
            let service = try WakeService(loop, bus)
            try bus.attach(to: loop)
            try service.serve()
            while try loop.runTurn() {}
            return service.isLost ? 1 : 0
        } catch {
            say("offstage-wake: \(error)\n", to: 2)
            return 1
        }
    }

    private static func say(_ text: String, to number: Int32) {
        let descriptor = FileDescriptor(owning: number)
        // Nobody can be told that nobody can be told.
        try? descriptor.writeAll(text)
        _ = descriptor.release()
    }
}
