import Vocabulary

/// What a device token says to the gateway, 16 bytes: device, app, generation, shard, most
/// significant byte first. Providers see it sealed (`TokenSeal`), as 32 bytes that tell nothing.
package struct DeviceToken: Hashable, Sendable {
    package let device: DeviceID
    package let app: AppNumber
    /// Which registration of the app on the device: an earlier one's token is gone (410).
    package let generation: UInt16
    /// Which part of a cluster keeps the device; 0 on a single node.
    package let shard: UInt16

    /// The bytes of a sealed token; hexadecimal in a path, twice as many characters.
    package static let sealedCount = 32

    package init(device: DeviceID, app: AppNumber, generation: UInt16, shard: UInt16 = 0) {
        (self.device, self.app) = (device, app)
        (self.generation, self.shard) = (generation, shard)
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        bytes.append(number: device.number)
        bytes.append(number: app.number)
        bytes.append(number: generation)
        bytes.append(number: shard)
        return bytes
    }

    /// Nil unless there are 16 bytes.
    package init?(bytes: some Sequence<UInt8>) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var count = 0
        for byte in bytes {
            if count < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
            count += 1
        }
        guard count == 16 else { return nil }
        self.init(
            device: DeviceID(high),
            app: AppNumber(UInt32(low >> 32)),
            generation: UInt16(truncatingIfNeeded: low >> 16),
            shard: UInt16(truncatingIfNeeded: low)
        )
    }
}

/// Encrypts and authenticates tokens: the only cryptography that the gateway's decisions rest on,
/// done outside the core since it has none. Both are pure: the same token is always sealed alike.
package protocol TokenSeal {
    /// The 32 bytes for 16.
    func seal(_ plain: [UInt8]) -> [UInt8]
    /// The 16 bytes for 32; nil if these were not sealed with the same key.
    func open(_ sealed: [UInt8]) -> [UInt8]?
}

extension Array where Element == UInt8 {
    /// Most significant byte first.
    package mutating func append(number: some FixedWidthInteger & UnsignedInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
