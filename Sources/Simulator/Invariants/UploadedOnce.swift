import DeviceCore
import Vocabulary

/// What a server is given is the file as it was when the upload was asked for, whole. It gets a
/// second one only by PUT, which takes the place of the first, and only while the device has not
/// heard that the first has arrived. Never by POST: an upload whose answer is lost fails.
final class UploadedOnce: Invariant {
    let name = "an uploaded file is whole, and not sent twice unasked"
    private var seen = 0
    private var counts: [String: Int] = [:]
    /// URLs of uploads that the device calls finished, or failed.
    private var ended: Set<String> = []

    func ended(_ turn: Turn, _ world: World) -> String? {
        let uploads = world.network.uploads
        for taken in uploads.taken[seen...] {
            guard let source = uploads.source(of: taken.url) else { continue }
            guard taken.file.size == source.asked.size,
                taken.file.version.map({ Int64($0) == source.asked.modified }) ?? true
            else { return "\(taken.url) is not the file that was meant" }
            counts[taken.url, default: 0] += 1
            if !source.method.isIdempotent, counts[taken.url, default: 0] > 1 {
                return "\(taken.url) has been sent twice"
            }
            if ended.contains(taken.url) { return "\(taken.url) has ended, and was sent again" }
        }
        seen = uploads.taken.count
        for line in turn.lines {
            guard case .transferred(_, let url, let end) = line.entry,
                uploads.source(of: url) != nil
            else { continue }
            ended.insert(url)
            if case .finished = end, counts[url] == nil { return "\(url) has not arrived" }
        }
        return nil
    }
}
