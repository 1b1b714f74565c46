import Vocabulary

/// A broadcast channel, by 16 bytes that nobody guesses.
package struct ChannelID: Hashable, Comparable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package static let byteCount = 16

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Nil unless there are 16.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Base64, as `apns-channel-id` has it.
    package init?(_ text: some Collection<UInt8>) {
        guard let bytes = Base64.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: high)
        bytes.append(number: low)
        return bytes
    }

    package var text: String { Base64.text(bytes) }

    package static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// One message for all that follow a channel. Never changes, hence shared freely.
package final class Broadcast: Sendable {
    package let number: PushNumber
    package let channel: ChannelID
    package let priority: PushPriority
    /// `once`: for those who are connected now.
    package let expiration: PushExpiration
    /// JSON, as the provider sent it.
    package let payload: [UInt8]

    package static let payloadLimit = 5120

    package init(
        number: PushNumber,
        channel: ChannelID,
        priority: PushPriority,
        expiration: PushExpiration,
        payload: [UInt8]
    ) {
        (self.number, self.channel, self.priority) = (number, channel, priority)
        (self.expiration, self.payload) = (expiration, payload)
    }

    func isOver(at wall: WallTime) -> Bool {
        switch expiration {
        case .once: true
        case .until(let end): end <= wall
        }
    }
}

extension Broadcast: Equatable {
    package static func == (left: Broadcast, right: Broadcast) -> Bool {
        left.number == right.number && left.channel == right.channel
            && left.priority == right.priority && left.expiration == right.expiration
            && left.payload == right.payload
    }
}

package struct Channel: Equatable, Sendable {
    package let id: ChannelID
    package let app: AppNumber
    /// The newest message is kept for those who come later.
    package let keepsNewest: Bool
    package var newest: Broadcast?

    package init(id: ChannelID, app: AppNumber, keepsNewest: Bool, newest: Broadcast? = nil) {
        (self.id, self.app, self.keepsNewest) = (id, app, keepsNewest)
        self.newest = newest
    }
}

/// Why a device does not follow a channel.
package enum FollowProblem: UInt8, CaseIterable, Sendable {
    /// There is none of the app, or it was removed.
    case noChannel = 1
    case tooMany
}
