import DeviceCore
import Linux
import Vocabulary

/// How long launches took, from an event log: from the moment of the event that decided it to the
/// event after the exit, which comes when the exit has been committed.
struct LaunchTimes {
    private(set) var microseconds: [Double] = []

    init(of path: String) throws {
        let bytes = try Files.read(path, limit: 64 << 20)
        var offset = 0
        var begun: [LaunchID: Moment] = [:]
        var isHeader = true
        while offset + 4 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard offset + 4 + length <= bytes.count else { return }
            let piece = Array(bytes[offset + 4..<offset + 4 + length])
            offset += 4 + length
            if isHeader {
                isHeader = false
                continue
            }
            let value = try ValueBytes.decode(piece, limit: EventLog.pieceLimit)
            let entry = try ValueDecoder().decode(EventLog.Entry.self, from: value)
            guard case .event(let event, let moment, let decisions) = entry else { continue }
            for decision in decisions {
                if case .effect(.spawn(let id, _)) = decision { begun[id] = moment }
            }
            if case .process(let id, .exited) = event, let begin = begun[id] {
                microseconds.append(Double((moment.awake - begin.awake).nanoseconds) / 1000)
            }
        }
    }
}
