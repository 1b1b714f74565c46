internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Keeps the ends of launches while no daemon lives to do it: asks them to end, then ends them.
struct Deadlines {
    /// How long before its end a program is asked.
    static let warning = Interval.seconds(5)
    /// What would not end is ended again after so long.
    private static let patience = Interval.seconds(1)

    private var asked: Set<LaunchID> = []
    /// As read last: the markers may be deleted while the launches live.
    private var known: [(id: LaunchID, deadline: AwakeTime)] = []

    mutating func read(_ markers: LaunchMarkers) {
        known = markers.launches().compactMap { id in
            markers.deadline(of: id).map { (id, $0) }
        }
    }

    /// Does what is due; when there is something to do again.
    mutating func keep(by control: any ProcessControl, at now: AwakeTime) -> AwakeTime? {
        var next: AwakeTime?
        for (id, deadline) in known where !control.processes(of: id).isEmpty {
            let look: AwakeTime
            if deadline <= now {
                try? control.kill(id)
                look = now + Self.patience
            } else if deadline - Self.warning <= now {
                if asked.insert(id).inserted { try? control.signal(id, Signal.terminate) }
                look = deadline
            } else {
                look = deadline - Self.warning
            }
            next = next.map { min($0, look) } ?? look
        }
        return next
    }
}
