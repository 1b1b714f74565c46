import DeviceCore
import Vocabulary

/// Each run leaves one line in the history per delivery, no more and no less; so every launch ends
/// in exactly one way.
final class OneLine: Invariant {
    let name = "each run leaves exactly one line"
    private struct Seen {
        var wake: Moment?
        var isCommand: Bool
        var deliveries: [DeliveryID]
    }
    private var seen: [UInt64: Seen] = [:]

    func restored(_ device: Device, _ world: World) -> String? {
        seen.removeAll()
        for (_, launch) in device.launches { seen[launch.id.number] = summary(launch) }
        return nil
    }

    private func summary(_ launch: Launch) -> Seen {
        Seen(
            wake: launch.wake?.began,
            isCommand: launch.requestID != nil,
            deliveries: launch.deliveries.map(\.id)
        )
    }

    func ended(_ turn: Turn, _ device: Device, _ world: World) -> String? {
        // While the store fails, lines wait with what they tell of.
        guard !turn.wasRolledBack else { return nil }
        let lines = turn.lines
        var looks = turn.launches
        if turn.isStart {
            for id in world.store.launches where !looks.contains(where: { $0.id == id }) {
                looks.append(Turn.Look(id, device))
            }
        }
        for look in looks {
            let (id, launch) = (look.id, look.launch)
            let before = seen[id.number]
            seen[id.number] = launch.map(summary)
            guard let before = before ?? launch.map(summary) else { continue }
            let mine = lines.filter {
                if case .wake(let report) = $0.entry { report.launch == id } else { false }
            }
            if before.isCommand {
                if let text = command(id, before, launch, mine, world) { return text }
            } else {
                // What never began leaves no line.
                if launch == nil, mine.isEmpty, !world.watch.hasRun(id) { continue }
                if let text = app(id, before, launch, mine) { return text }
            }
        }
        return nil
    }

    private func command(
        _ id: LaunchID,
        _ before: Seen,
        _ launch: Launch?,
        _ lines: [HistoryLine],
        _ world: World
    ) -> String? {
        if before.wake != nil, launch?.wake?.began != before.wake {
            if lines.count == 1 { return nil }
            // What never began leaves no line.
            if lines.isEmpty, !world.watch.hasRun(id) { return nil }
            return "a run of launch \(id) leaves \(lines.count) lines"
        }
        if lines.count == 1, launch == nil, before.wake == nil { return nil }
        return lines.isEmpty ? nil : "launch \(id) still runs, and has a line"
    }

    private func app(
        _ id: LaunchID,
        _ before: Seen,
        _ launch: Launch?,
        _ lines: [HistoryLine]
    ) -> String? {
        let left = launch?.deliveries.map(\.id) ?? []
        let gone = before.deliveries.filter { !left.contains($0) }.count
        // A delivery that comes and goes within the turn: nobody is there to take it.
        let atOnce = lines.filter {
            if case .wake(let report) = $0.entry { report.result == .failed } else { false }
        }.count
        guard lines.count < gone || lines.count > gone + atOnce else { return nil }
        return "\(gone) deliveries of launch \(id) end with \(lines.count) lines"
    }
}
