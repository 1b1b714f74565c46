internal import DeviceCore
internal import Linux
internal import Vocabulary

/// What `NewDataFrom` compares: the content of a file.
enum ResultFile {
    /// Bytes that are read; of a larger file size and time of change count.
    static let limit: UInt64 = 16 << 20

    static func read(_ path: String) -> ProbeAnswer {
        guard let status = Files.status(path) else {
            return .unreadable(reason: "\(path) is not there")
        }
        guard status.kind == .file else {
            return .unreadable(reason: "\(path) is not a file")
        }
        if UInt64(max(0, status.size)) >= limit {
            return .read(Fingerprint(of: "\(status.size) \(status.modified)"), status: 0)
        }
        do {
            return .read(Fingerprint(of: try Files.readRegular(path, limit: Int(limit))), status: 0)
        } catch  where error.isWantOfResources {
            return .notAsked(StartFailure(.processes, reason: "\(error)"))
        } catch {
            return .unreadable(reason: "\(error)")
        }
    }
}
