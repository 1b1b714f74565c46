internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Files that are sent: which they are, and that they are still the same.
struct UploadSource {
    /// What tells the file that is there now from others.
    static func identity(of file: UploadFile) throws(LinuxError) -> FileIdentity {
        try open(file).status().identity
    }

    /// Opens the file if it is still the one that was meant; the error is `stale` if it is not.
    static func open(
        _ file: UploadFile,
        _ identity: FileIdentity
    ) throws(LinuxError) -> FileDescriptor {
        let descriptor = try open(file)
        guard try descriptor.status().identity == identity else {
            throw LinuxError("open", file.path, .stale)
        }
        return descriptor
    }

    /// A file and nothing else; no link is followed, and nothing is waited for.
    private static func open(_ file: UploadFile) throws(LinuxError) -> FileDescriptor {
        let directory = try OpenDirectory(file.directory)
        let descriptor = try directory.open(file.name, [.reading, .nonBlocking])
        guard try descriptor.status().kind == .file else {
            throw LinuxError("open", file.path, .invalid)
        }
        return descriptor
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

extension UploadFile {
    var path: String { directory == "/" ? "/\(name)" : "\(directory)/\(name)" }
}
