package import GatewayCore
package import Vocabulary

/// A row of the delivery log as data: what `log` prints, and what a provider gets.
package struct LogReport {
    package let value: Value

    /// `bundle`: nil when the app was removed.
    package init(_ row: LogRow, bundle: String?, gateway: UInt64) {
        var fields: [(String, Value)] = [
            ("uniqueId", .string("\(PushUUID(number: row.number, gateway: gateway))")),
            ("topic", bundle.map { .string($0) } ?? .null),
            ("events", .list(row.events.map(Self.event))),
            ("state", .string(row.state.rawValue)),
        ]
        let head = row.head
        fields += [
            ("pushType", .string(head.type.name)),
            ("priority", .integer(Int64(head.priority.rawValue))),
            ("bytes", .integer(Int64(head.size))), ("provider", .string(head.provider)),
        ]
        switch head.target {
        case .device(let device, let acceptance):
            fields += [
                ("apnsId", .string("\(acceptance.apnsID)")),
                ("device", .integer(Int64(clamping: device.number))),
                ("assumedBackground", .bool(acceptance.isAssumedBackground)),
            ]
        case .channel(let channel, _): fields.append(("channel", .string(channel.text)))
        }
        value = .map(ValueMap(fields))
    }

    private static func event(_ entry: LogRow.Entry) -> Value {
        var fields: [(String, Value)] = [
            ("event", .string(LogState(entry.event).rawValue)),
            ("timestamp", .integer(entry.at.nanoseconds / 1_000_000)),
        ]
        let detail = detail(entry.event)
        if !detail.isEmpty { fields.append(("reason", .string(detail))) }
        if case .sent(let devices, _) = entry.event {
            fields.append(("devices", .integer(Int64(devices))))
        }
        return .map(ValueMap(fields))
    }

    package static func detail(_ event: LogEvent) -> String {
        switch event {
        case .accepted, .attempted, .delivered, .expired, .sent(_, isKept: false): ""
        case .sent(_, isKept: true): "and stored for devices that connect later"
        case .stored(let reason): reason.name
        case .replaced: "a newer push took its place"
        case .dropped(.notStorable(let reason)): "expiration or TTL 0: not stored; \(reason.name)"
        case .dropped(.unregistered): "the app was unregistered"
        case .dropped(.refused): "the device refused it"
        case .dropped(.tooMany): "newer messages of Web Push for the app took all places"
        }
    }
}
