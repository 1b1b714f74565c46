import TLS
import Vocabulary

/// What was sent of a file, from its start, summed up as it goes.
///
/// @unchecked: whoever has it has it alone. That is the loop, or, from when a job is handed to it
/// until its result is taken, the thread of `DigestThread`.
final class SentDigest: @unchecked Sendable {
    /// So many bytes are summed up.
    private(set) var count: Int64 = 0
    private var digest = MessageDigest(.sha256)

    /// Those at `offset` that follow what it has. What is sent a second time is in it already.
    func add(_ bytes: Span<UInt8>, at offset: Int64) {
        let known = count - offset
        guard known >= 0, known < Int64(bytes.count) else { return }
        digest.add(bytes.extracting(Int(known)..<bytes.count))
        count = offset + Int64(bytes.count)
    }

    /// Nil: there is no such digest here.
    var part: SentPart? {
        let part = SentPart(count: count, sha256: Bytes(digest.soFar()))
        return part.isValid(upTo: count) ? part : nil
    }
}
