package import Wire

/// What holds for any bytes that a peer may send; shared with the fuzzers.
package enum LinkProperties {
    /// The rule that reading `bytes` broke; nil when all held. Never traps, whatever they are.
    package static func brokenRule(_ bytes: [UInt8]) -> String? {
        broken(bytes, as: DeviceFrame.self) ?? broken(bytes, as: GatewayFrame.self)
    }

    package static func broken<Frame: LinkFrame & Equatable>(
        _ bytes: [UInt8],
        as kind: Frame.Type
    ) -> String? {
        let whole = read(bytes, as: kind, pieces: bytes.count)
        let sent = whole.frames.flatMap(\.bytes)
        guard bytes.starts(with: sent) else { return "a frame has two forms" }
        if whole.error == nil, sent.count + whole.pending != bytes.count {
            return "bytes were lost"
        }
        guard whole.pending <= Frame.longest + 3 else { return "too much is held" }
        let pieces = read(bytes, as: kind, pieces: 3)
        guard pieces.frames == whole.frames, pieces.error == whole.error else {
            return "pieces make a difference"
        }
        return nil
    }

    private static func read<Frame: LinkFrame>(
        _ bytes: [UInt8],
        as kind: Frame.Type,
        pieces size: Int
    ) -> (frames: [Frame], error: LinkError?, pending: Int) {
        var reader = FrameReader<Frame>()
        var frames: [Frame] = []
        do throws(LinkError) {
            var start = 0
            while start < bytes.count {
                let end = min(start + max(size, 1), bytes.count)
                try reader.read(bytes[start..<end]) { (frame) throws(LinkError) in
                    frames.append(frame)
                }
                start = end
            }
            return (frames, nil, reader.pendingCount)
        } catch {
            return (frames, error, 0)
        }
    }
}
