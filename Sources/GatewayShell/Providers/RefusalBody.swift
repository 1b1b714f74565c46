import GatewayCore
import Vocabulary

/// What a sender is told in the body of a refusal, or in the last frame of a connection.
enum RefusalBody {
    static func bytes(_ reason: Reason, since timestamp: WallTime? = nil) -> [UInt8] {
        guard timestamp == nil else { return bytes(named: reason.rawValue, since: timestamp) }
        return plain[reason] ?? []
    }

    static func bytes(_ reason: WebPushReason) -> [UInt8] { bytes(named: reason.rawValue) }

    /// Made once: whoever floods the gateway is refused more often than all others are served.
    private static let plain = Dictionary(
        uniqueKeysWithValues: Reason.allCases.map { ($0, bytes(named: $0.rawValue)) }
    )

    /// `timestamp` in milliseconds since 1970.
    private static func bytes(named reason: String, since timestamp: WallTime? = nil) -> [UInt8] {
        var fields: [(String, Value)] = [("reason", .string(reason))]
        if let timestamp {
            fields.append(("timestamp", .integer(timestamp.nanoseconds / 1_000_000)))
        }
        return Array(Value.map(ValueMap(fields)).json().utf8)
    }
}
