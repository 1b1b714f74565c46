internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Keeps the ends of launches while no daemon lives to do it: asks them to end, then ends them.
struct Deadlines {
    /// How long before its end a program is asked.
    static let warning = Interval.seconds(5)
    /// What would not end is ended again after so long.
    private static let patience = Interval.seconds(1)

    private let markers: LaunchMarkers
    private var asked: Set<LaunchID> = []

    init(_ markers: LaunchMarkers) { self.markers = markers }

    /// Does what is due; when there is something to do again.
    mutating func keep(by control: any ProcessControl, at now: AwakeTime) -> AwakeTime? {
        var next: AwakeTime?
        for id in markers.launches() {
            guard let deadline = markers.deadline(of: id), !control.processes(of: id).isEmpty else {
                continue
            }
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
