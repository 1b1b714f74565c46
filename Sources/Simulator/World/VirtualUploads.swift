import DeviceCore
import ExchangeCore
import Vocabulary

/// The user's files that are sent, those on their way, and what servers have of them. It draws from
/// numbers of its own, so that the rest of a seed stays as it is.
struct VirtualUploads {
    var random: SeededRandom
    var sources: [VirtualSource] = []
    var exchanges: [VirtualUploadExchange] = []
    var resources: [VirtualResource] = []
    /// How many of them were ever made.
    var made = 0
    /// Whole files that servers were given, in order.
    var taken: [TakenFile] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed ^ 0x5550_4C4F_4144_5300) }

    func exchangeIndex(_ id: TransferID) -> Int? { exchanges.firstIndex { $0.id == id } }
    func resourceIndex(_ place: String) -> Int? { resources.firstIndex { $0.file.name == place } }

    func source(of url: String) -> VirtualSource? { sources.first { $0.url == url } }

    /// One server speaks the newer version of the draft, one the older, and one none.
    static func interop(_ url: String) -> UploadInterop? {
        if url.hasPrefix("https://h0.") { return .eight }
        return url.hasPrefix("https://h1.") ? .six : nil
    }
}

/// A file of the user's, which is sent to one place.
struct VirtualSource {
    let url: String
    let method: UploadMethod
    /// When it was asked for.
    let asked: FileIdentity
    /// Now. The time of its last change tells its version.
    var current: FileIdentity

    /// So many bytes of it as it is now.
    func part(_ count: Int64) -> SentPart {
        let byte = UInt8(truncatingIfNeeded: current.modified)
        let digest = [UInt8](repeating: byte, count: SentPart.digestBytes)
        return SentPart(count: count, sha256: Bytes(digest))
    }
}

/// What a server has made for an upload.
struct VirtualResource {
    let url: String
    /// Its name is the resource's own URL.
    var file: VirtualFile
    var isComplete = false
}

/// A whole file that a server was given.
struct TakenFile {
    let url: String
    let file: VirtualFile
}

/// An upload on its way.
struct VirtualUploadExchange {
    let id: TransferID
    let url: String
    var exchange: UploadExchange
    var phase = Phase.asking

    enum Phase {
        case asking
        /// The body, up to `end`, goes into this file of the server's; `place`: of the resource.
        case sending(VirtualFile, place: String?, end: Int64)
    }
}
