import DeviceCore
import DeviceShell
import Linux
import TestKit
import Vocabulary

/// How long launches take: from the moment of the event that decides a launch, as the daemon's
/// event log has it, until its marker is gone. That is removed last, after the exit has been
/// committed and the cgroup removed.
struct LaunchTimes: ~Copyable {
    private let ends: Inotify
    private let writes: Inotify
    private var log: EventLogTail
    private var begun: [LaunchID: Moment] = [:]

    init(of daemon: ScratchDaemon, _ markers: LaunchMarkers) throws {
        let path = daemon.scratch("state/events.log")
        let ends = try Inotify()
        _ = try ends.add(markers.directory, .removed)
        let writes = try Inotify()
        _ = try writes.add(path, .modified)
        let log = try EventLogTail(of: path)
        self.ends = ends
        self.writes = writes
        self.log = log
    }

    /// Waits for the next end of a launch; microseconds.
    mutating func next() throws -> Double {
        while true {
            try Wait.until(readable: ends.descriptor.number, "the end of a launch")
            let now = Clocks.now().awake
            guard let id = try ends.events().compactMap({ LaunchName.id($0.name) }).first
            else { continue }
            return Double((now - (try begin(of: id)).awake).nanoseconds) / 1000
        }
    }

    /// When the launch was decided; the log is written when the daemon has nothing else to do.
    private mutating func begin(of launch: LaunchID) throws -> Moment {
        while true {
            for case .event(_, let moment, _, let decisions) in try log.entries() {
                for case .effect(.spawn(let id, _)) in decisions { begun[id] = moment }
            }
            if let moment = begun[launch] { return moment }
            try Wait.until(readable: writes.descriptor.number, "the log of a launch")
            _ = try writes.events()
        }
    }
}
