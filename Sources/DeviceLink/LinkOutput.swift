package import Wire

/// What a device has to say, in the order in which it was given. Acknowledgements in a row go into
/// one frame: pushes come several at a time, and each record of TLS costs both sides more than
/// what is in it.
package struct LinkOutput: Sendable {
    private var bytes: [UInt8] = []
    /// In front of these only `bytes`.
    private var acknowledged: [UInt64] = []

    package init() {}

    package mutating func append(_ frame: DeviceFrame) {
        if case .acknowledge(let sendings) = frame {
            for sending in sendings {
                acknowledged.append(sending)
                if acknowledged.count == LinkFormat.mostInList { encodeAcknowledged() }
            }
        } else {
            encodeAcknowledged()
            frame.encode(into: &bytes)
        }
    }

    /// What waits to be sent.
    package mutating func waiting() -> [UInt8] {
        encodeAcknowledged()
        return bytes
    }

    /// So many bytes went.
    package mutating func sent(_ count: Int) { bytes.removeFirst(count) }

    private mutating func encodeAcknowledged() {
        guard !acknowledged.isEmpty else { return }
        DeviceFrame.acknowledge(acknowledged).encode(into: &bytes)
        acknowledged.removeAll(keepingCapacity: true)
    }
}
