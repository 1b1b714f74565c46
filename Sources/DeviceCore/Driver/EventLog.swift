package import Vocabulary

/// The event log: a header with the device as it was, then each event with its moment and its
/// decisions. A log of any device can be fed to `Replay` on any other machine.
///
/// The file is a sequence of pieces: four bytes of length, most significant first, then one value
/// in canonical form (docs/event-log.md).
package enum EventLog {
    package static let format: Int64 = 2
    /// The longest piece that is read: a device of some thousand apps fits.
    package static let pieceLimit = 64 << 20

    package struct Header: Hashable, Sendable, Codable {
        package var format: Int64
        /// The program that wrote it; another one may decide otherwise.
        package var build: String
        package var device: Device

        package init(build: String, device: Device) {
            (format, self.build, self.device) = (EventLog.format, build, device)
        }
    }

    package enum Entry: Hashable, Sendable, Codable {
        /// `othersFollow`: nil counts as false.
        case event(Event, at: Moment, othersFollow: Bool?, decisions: [Decision])
        /// The last `count` events did not take place: their commit failed.
        case rollback(count: Int)
    }

    /// An effect as it is logged: what was saved is only compared, so its fingerprint will do.
    package enum Decision: Hashable, Sendable, Codable {
        case saved(changes: Int, Fingerprint)
        case effect(Effect)

        package init(_ effect: Effect) throws(ValueError) {
            guard case .save(let changes) = effect else {
                self = .effect(effect)
                return
            }
            var values: [Value] = []
            values.reserveCapacity(changes.count)
            for change in changes { values.append(try change.value()) }
            self = .saved(changes: changes.count, Fingerprint(of: .list(values)))
        }
    }

    /// One piece of the file.
    package static func piece(_ content: some Encodable) throws(ValueError) -> [UInt8] {
        let body = try ValueEncoder().bytes(content)
        let length = UInt32(truncatingIfNeeded: body.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + body
    }
}

/// Feeds a recorded log to a device and compares what it decides with what was decided.
package struct Replay: Hashable, Sendable {
    package enum Problem: Error, Hashable, Sendable {
        /// Not an event log, or of a format that this version does not know.
        case unreadable(String)
    }

    package struct Difference: Hashable, Sendable {
        /// Counted from 0.
        package var event: Int
        package var what: Event
        package var moment: Moment
        package var recorded: [EventLog.Decision]
        package var decided: [EventLog.Decision]
    }

    package private(set) var build = ""
    package private(set) var events = 0
    package private(set) var difference: Difference?
    /// The log ends in the middle of a piece, as after a loss of power.
    package private(set) var isCutShort = false

    /// Replays until the end, or until the first decision that differs.
    package init(_ bytes: [UInt8]) throws(Problem) {
        var offset = 0
        let strange = Problem.unreadable(
            "it is not an Offstage event log, or its beginning is damaged"
        )
        if bytes.isEmpty { throw .unreadable("it is empty") }
        guard let first = try? Self.next(bytes, &offset) else { throw strange }
        if let format = first["format"]?.integerValue, format != EventLog.format {
            throw .unreadable("its format is \(format); this version reads \(EventLog.format)")
        }
        guard let header = try? ValueDecoder().decode(EventLog.Header.self, from: first) else {
            throw strange
        }
        build = header.build
        var device = header.device
        var past: [Device] = []
        while offset < bytes.count {
            guard let piece = try Self.next(bytes, &offset) else {
                isCutShort = true
                return
            }
            let entry: EventLog.Entry
            do {
                entry = try ValueDecoder().decode(EventLog.Entry.self, from: piece)
            } catch {
                throw .unreadable("entry \(events) is damaged: \(error)")
            }
            switch entry {
            case .rollback(let count):
                guard count >= 0, count <= past.count else {
                    throw .unreadable("entry \(events) undoes more events than there are")
                }
                if count > 0 { device = past[past.count - count] }
                past.removeAll()
            case .event(let event, let moment, let othersFollow, let recorded):
                past.append(device)
                if past.count > 4096 { past.removeFirst() }
                var timed = TimedEvent(event, at: moment)
                timed.othersFollow = othersFollow ?? false
                try compare(timed, recorded, &device)
                if difference != nil { return }
            }
        }
    }

    private mutating func compare(
        _ event: TimedEvent,
        _ recorded: [EventLog.Decision],
        _ device: inout Device
    ) throws(Problem) {
        var effects: [Effect] = []
        device.handle(event, into: &effects)
        let decided: [EventLog.Decision]
        do throws(ValueError) {
            var decisions: [EventLog.Decision] = []
            for effect in effects { decisions.append(try EventLog.Decision(effect)) }
            decided = decisions
        } catch {
            throw .unreadable("entry \(events) does not encode: \(error)")
        }
        if decided != recorded {
            difference = Difference(
                event: events,
                what: event.event,
                moment: event.moment,
                recorded: recorded,
                decided: decided
            )
        }
        events += 1
    }

    /// The next piece; nil at the end, also in the middle of a piece.
    private static func next(_ bytes: [UInt8], _ offset: inout Int) throws(Problem) -> Value? {
        guard offset + 4 <= bytes.count else { return nil }
        let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        guard length <= EventLog.pieceLimit else {
            throw .unreadable("an entry of \(length) bytes")
        }
        guard offset + 4 + length <= bytes.count else { return nil }
        let body = Array(bytes[offset + 4..<offset + 4 + length])
        offset += 4 + length
        do {
            return try ValueBytes.decode(body, limit: EventLog.pieceLimit)
        } catch {
            throw .unreadable("an entry at byte \(offset) is damaged: \(error)")
        }
    }
}
