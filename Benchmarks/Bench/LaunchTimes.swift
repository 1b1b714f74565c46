import DeviceCore
import Linux
import TestKit
import Vocabulary

/// How long launches take, from the daemon's own event log as it grows: from the moment of the
/// event that decides a launch until the log has its exit. The log is written at the end of a turn,
/// when the exit has been committed and all that follows from it is done.
struct LaunchTimes: ~Copyable {
    private let watch: Inotify
    private var log: EventLogTail
    private var begun: [LaunchID: Moment] = [:]

    init(following path: String) throws {
        let watch = try Inotify()
        _ = try watch.add(path, .modified)
        log = try EventLogTail(of: path)
        self.watch = watch
    }

    /// Waits for the next exit; microseconds.
    mutating func next() throws -> Double {
        while true {
            let written = Clocks.now().awake
            if let begin = try readOn() {
                return Double((written - begin.awake).nanoseconds) / 1000
            }
            try Wait.until(readable: watch.descriptor.number, "the exit of a launch")
            _ = try watch.events()
        }
    }

    /// Reads what is new; when the launch was decided whose exit is in it.
    private mutating func readOn() throws -> Moment? {
        var ended: Moment?
        for entry in try log.entries() {
            guard case .event(let event, let moment, let decisions) = entry else { continue }
            for decision in decisions {
                if case .effect(.spawn(let id, _)) = decision { begun[id] = moment }
            }
            if case .process(let id, .exited) = event, let begin = begun[id] { ended = begin }
        }
        return ended
    }
}
