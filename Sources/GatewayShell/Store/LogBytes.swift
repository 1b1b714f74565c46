import GatewayCore
import Vocabulary

/// Events of the delivery log as bytes, which are only ever added to: for each its kind, when it
/// was (milliseconds since 1970), and what it says beside.
enum LogBytes {
    private enum Kind: UInt8 {
        case attempted = 1
        case delivered
        case stored
        case replaced
        case expired
        case notStorable
        case unregistered
        case refused
        case accepted
        case sent
        case sentAndKept
        case tooMany
    }

    static func encode(_ events: [LogRow.Entry]) -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in events { append(entry, to: &bytes) }
        return bytes
    }

    static func append(_ entry: LogRow.Entry, to bytes: inout [UInt8]) {
        let (kind, argument) = parts(entry.event)
        bytes.append(kind.rawValue)
        append(UInt64(clamping: entry.at.nanoseconds / 1_000_000), to: &bytes)
        append(argument, to: &bytes)
    }

    private static func parts(_ event: LogEvent) -> (Kind, UInt64) {
        switch event {
        case .accepted: (.accepted, 0)
        case .attempted: (.attempted, 0)
        case .delivered: (.delivered, 0)
        case .stored(let reason): (.stored, UInt64(reason.rawValue))
        case .replaced(let number): (.replaced, number.number)
        case .expired: (.expired, 0)
        case .dropped(.notStorable(let reason)): (.notStorable, UInt64(reason.rawValue))
        case .dropped(.unregistered): (.unregistered, 0)
        case .dropped(.refused): (.refused, 0)
        case .dropped(.tooMany): (.tooMany, 0)
        case .sent(let devices, let isKept):
            (isKept ? .sentAndKept : .sent, UInt64(clamping: devices))
        }
    }

    /// As many as can be read: a row cut off shows what is whole.
    static func decode(_ bytes: [UInt8]) -> [LogRow.Entry] {
        var events: [LogRow.Entry] = []
        var rest = bytes[...]
        while let byte = rest.popFirst(), let kind = Kind(rawValue: byte),
            let milliseconds = number(&rest), let argument = number(&rest),
            let event = event(kind, argument)
        {
            let at = WallTime(
                nanoseconds: Interval.milliseconds(Int64(clamping: milliseconds)).nanoseconds
            )
            events.append(LogRow.Entry(event: event, at: at))
        }
        return events
    }

    private static func event(_ kind: Kind, _ argument: UInt64) -> LogEvent? {
        let reason = StoreReason(rawValue: UInt8(truncatingIfNeeded: argument))
        switch kind {
        case .accepted: return .accepted
        case .attempted: return .attempted
        case .delivered: return .delivered
        case .stored: return reason.map { .stored($0) }
        case .replaced: return .replaced(by: PushNumber(argument))
        case .expired: return .expired
        case .notStorable: return reason.map { .dropped(.notStorable($0)) }
        case .unregistered: return .dropped(.unregistered)
        case .refused: return .dropped(.refused)
        case .tooMany: return .dropped(.tooMany)
        case .sent: return .sent(devices: Int(clamping: argument), isKept: false)
        case .sentAndKept: return .sent(devices: Int(clamping: argument), isKept: true)
        }
    }

    /// Seven bits a byte, the lowest first.
    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            number |= UInt64(byte & 0x7F) << UInt64(shift)
            if byte < 0x80 { return number }
        }
        return nil
    }
}
