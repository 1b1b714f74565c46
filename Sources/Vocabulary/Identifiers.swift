/// The desktop file id of an app, or `command.NAME` for a command given to `offstage submit`.
///
/// Ids are told apart and ordered by their UTF-8 bytes, as file names are.
package struct AppID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    package let name: String

    package init(_ name: String) { self.name = name }

    package var description: String { name }
    package static func == (left: AppID, right: AppID) -> Bool {
        left.name.hasSameBytes(as: right.name)
    }
    package static func < (left: AppID, right: AppID) -> Bool {
        left.name.bytesPrecede(right.name)
    }

    package init(from decoder: any Decoder) throws {
        name = try decoder.singleValueContainer().decode(String.self)
    }
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}

/// A number that one device gives out once, in rising order, never again after a restart.
package struct Serial<Kind: SerialKind>: Hashable, Comparable, Sendable, Codable,
    CustomStringConvertible
{
    @usableFromInline package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    package var description: String { "\(number)" }
    package static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    // Known to those who keep them in tables, who would otherwise ask for the type at each look.
    @inlinable package static func == (left: Self, right: Self) -> Bool {
        left.number == right.number
    }
    @inlinable package func hash(into hasher: inout Hasher) { hasher.combine(number) }

    package init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(UInt64.self)
    }
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// What a serial number counts; only ever used as a type.
package protocol SerialKind: Sendable {}
package enum LaunchKind: SerialKind {}
package enum RequestKind: SerialKind {}
package enum DeliveryKind: SerialKind {}
package enum ReplyKind: SerialKind {}
package enum TransferKind: SerialKind {}

/// One process (with its children) that the daemon started or adopted.
package typealias LaunchID = Serial<LaunchKind>
/// One request for background work.
package typealias RequestID = Serial<RequestKind>
/// One hand-over of work to an app: offered, accepted, completed or expired.
package typealias DeliveryID = Serial<DeliveryKind>
/// One download or upload.
package typealias TransferID = Serial<TransferKind>
/// Who waits for an answer; made by the shell, valid until answered.
package typealias ReplyToken = Serial<ReplyKind>

// As keys of a dictionary these make a map of it, not a list of pairs.
extension AppID: CodingKeyRepresentable {
    package var codingKey: any CodingKey { PathKey(stringValue: name) }
    package init?(codingKey: some CodingKey) { self.init(codingKey.stringValue) }
}

extension Serial: CodingKeyRepresentable {
    package var codingKey: any CodingKey { PathKey(stringValue: description) }
    package init?(codingKey: some CodingKey) {
        guard let number = UInt64(codingKey.stringValue) else { return nil }
        self.init(number)
    }
}
