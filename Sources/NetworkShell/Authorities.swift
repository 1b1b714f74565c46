import Curl
import Linux
import TLS

/// Whose word counts on who a server is: what other programs with OpenSSL take, too. Parsed once,
/// not for each connection, and again when the system's have changed.
final class Authorities {
    /// Nil: there is none, or it is not looked at.
    private let file: String?
    private let directory: String?
    /// Of `SSL_CERT_FILE`, which may lie where this process cannot read later.
    private let own: [UInt8]?
    private var store: TrustStore?
    /// What `store` is made of. It keeps what it has found in a directory.
    private var read: [FileStatus?] = []

    private static let longest = 4 << 20

    convenience init() {
        self.init(
            file: CurlLibrary.authorityFile,
            directory: CurrentProcess.environment("SSL_CERT_DIR")
                ?? CurlLibrary.authorityDirectory,
            own: CurrentProcess.environment("SSL_CERT_FILE")
        )
    }

    /// `own`: a file in place of the system's, read now.
    init(file: String?, directory: String?, own: String?) {
        (self.file, self.directory) = (own == nil ? file : nil, directory)
        // Of one that cannot be read none are trusted, and each answer says so.
        self.own = own.map { (try? Files.read($0, limit: Self.longest)) ?? [] }
    }

    /// Files and directories that are to be readable later.
    var readable: [String] { places }

    private var places: [String] {
        [file].compactMap(\.self) + (directory?.split(separator: ":").map(String.init) ?? [])
    }

    /// False: they cannot be read now.
    func apply(to context: CurlTLSContext) -> Bool {
        guard let store = current() else { return false }
        unsafe store.apply(to: context.pointer)
        return true
    }

    /// Nil: they cannot be read now.
    func current() -> TrustStore? {
        let now = places.map { Files.status($0) }
        if store == nil || now != read { (store, read) = (load(), now) }
        return store
    }

    private func load() -> TrustStore? {
        try? TrustStore(certificates: own ?? systemCertificates(), directory: directory)
    }

    private func systemCertificates() throws(LinuxError) -> [UInt8] {
        guard let file else { return [] }
        return try Files.read(file, limit: Self.longest)
    }
}
