internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Files that are sent: which they are, and that they are still the same.
struct UploadSource {
    /// Opens the file if it is still the one that was meant; the error is `stale` if it is not.
    static func open(
        _ file: UploadFile,
        _ identity: FileIdentity
    ) throws(LinuxError) -> FileDescriptor {
        let source = try open(file)
        guard source.identity == identity else {
            throw LinuxError("open", file.path, .stale)
        }
        return source.descriptor
    }

    /// A file and nothing else; no link is followed, and nothing is waited for.
    static func open(_ file: UploadFile) throws(LinuxError) -> OpenSource {
        let directory = try OpenDirectory(file.directory)
        let descriptor = try directory.open(file.name, [.reading, .nonBlocking])
        let status = try descriptor.status()
        guard status.kind == .file else { throw LinuxError("open", file.path, .invalid) }
        return OpenSource(file: file, identity: status.identity, descriptor: descriptor)
    }

    /// How an exchange ends whose file cannot be opened.
    static func end(by error: LinuxError, _ file: UploadFile) -> ExchangeEnd {
        switch error.errno {
        case .stale:
            let reason = "\(file.path) has changed since the upload was asked for"
            return .failed(ExchangeFailure(.source, reason: reason))
        case .noEntry, .notDirectory, .loop, .invalid, .noDeviceOrAddress:
            let reason = "\(file.path) is no longer there"
            return .failed(ExchangeFailure(.source, reason: reason))
        default: return Transfers.end(by: error)
        }
    }
}

/// A file that is to be sent, and what tells it from others.
struct OpenSource: ~Copyable {
    let file: UploadFile
    let identity: FileIdentity
    let descriptor: FileDescriptor
}

extension UploadFile {
    var path: String { directory == "/" ? "/\(name)" : "\(directory)/\(name)" }
}
