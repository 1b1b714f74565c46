internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Reads what exchanges show to servers: cookies, passwords and certificates, from files of the
/// user. No link is followed.
final class CredentialReader {
    /// The last file of cookies, which thousands of transfers may have in common.
    private var known: (path: String, identity: FileIdentity, cookies: [Cookie])?

    struct Problem: Error {
        let reason: String
        let path: String
        /// What to do about it.
        var fix = "name a file that you can read"
        /// Nil: the system has given the file.
        var cause: LinuxError?

        /// What the machine lacks now it may have later.
        var end: ExchangeEnd {
            if let cause, cause.isOfNow { return Transfers.end(by: cause) }
            return .failed(ExchangeFailure(.credentials, reason: "\(path): \(reason)"))
        }
    }

    /// Browsers write all they have.
    private static let fileBytes = 4 << 20

    /// For a transfer from or to this host. `now`: cookies that have expired are left out.
    func read(
        _ files: CredentialFiles,
        for host: String,
        at now: WallTime
    ) throws(Problem) -> Credentials {
        var credentials = Credentials()
        if let path = files.cookies {
            credentials.cookies = try cookies(path).filter {
                $0.expires.map { $0 > now.nanoseconds / 1_000_000_000 } ?? true
            }
        }
        if let path = files.netrc { credentials.logins = try Self.logins(path) }
        credentials = credentials.narrowed(to: host)
        try Self.check(credentials, files, host)
        credentials.certificate = try Self.certificate(files)
        return credentials
    }

    private func cookies(_ path: String) throws(Problem) -> [Cookie] {
        let file = try Self.open(path)
        if let known, known.path == path, known.identity == file.identity { return known.cookies }
        let cookies = try Self.parse(
            path,
            Cookie.parse,
            fix: "export the cookies in Netscape's format, as \"curl --cookie-jar\" writes it"
        )
        known = (path, file.identity, cookies)
        return cookies
    }

    private static func logins(_ path: String) throws(Problem) -> [Credentials.Login] {
        try parse(
            path,
            LoginFile.parse,
            fix: "write entries as machine HOST login NAME password PASSWORD"
        )
    }

    private static func check(
        _ credentials: Credentials,
        _ files: CredentialFiles,
        _ host: String
    ) throws(Problem) {
        let cookies = credentials.cookies.reduce(0) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + $1.path.utf8.count
        }
        let logins = credentials.logins.reduce(0) {
            $0 + $1.user.utf8.count + $1.password.utf8.count
        }
        if cookies > Credentials.cookieBytes {
            throw Problem(
                reason: "it has more than \(ByteSize.text(Int64(Credentials.cookieBytes))) of "
                    + "cookies for \(host)",
                path: files.cookies ?? "",
                fix: "leave out those that are not needed"
            )
        }
        if logins > Credentials.loginBytes {
            throw Problem(
                reason: "it has more than \(ByteSize.text(Int64(Credentials.loginBytes))) of "
                    + "names and passwords for \(host)",
                path: files.netrc ?? "",
                fix: "leave out those that are not needed"
            )
        }
    }

    private static func certificate(
        _ files: CredentialFiles
    ) throws(Problem) -> Credentials.ClientCertificate? {
        guard let path = files.certificate else { return nil }
        let certificate = try text(path)
        let keyPath = files.key ?? path
        let key = try keyPath == path ? certificate : text(keyPath)
        guard certificate.contains("-----BEGIN CERTIFICATE-----") else {
            throw Problem(
                reason: "it has no certificate in PEM",
                path: path,
                fix: "give one with --cert"
            )
        }
        guard key.contains("PRIVATE KEY-----") else {
            throw Problem(
                reason: "it has no private key in PEM",
                path: keyPath,
                fix: files.key == nil ? "give --key" : "give another file with --key"
            )
        }
        guard !key.contains("BEGIN ENCRYPTED"), !key.contains("Proc-Type: 4,ENCRYPTED") else {
            throw Problem(
                reason: "the key needs a passphrase, for which nobody can be asked later; "
                    + "\"openssl pkey\" writes it without",
                path: keyPath,
                fix: "give the key without one with --key"
            )
        }
        guard certificate.utf8.count <= Credentials.certificateBytes,
            key.utf8.count <= Credentials.keyBytes
        else {
            throw Problem(
                reason: "it is too long",
                path: path,
                fix: "keep only the certificate, those that lead to its authority, and the key"
            )
        }
        return Credentials.ClientCertificate(certificate: certificate, key: key)
    }

    private static func parse<Parsed>(
        _ path: String,
        _ parse: (String) throws(CredentialError) -> Parsed,
        fix: String
    ) throws(Problem) -> Parsed {
        let text = try text(path)
        do throws(CredentialError) {
            return try parse(text)
        } catch {
            throw Problem(reason: error.reason, path: path, fix: fix)
        }
    }

    private static func text(_ path: String) throws(Problem) -> String {
        let file = try open(path)
        do throws(LinuxError) {
            let bytes = try file.descriptor.readAll(limit: fileBytes)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw LinuxError("read", path, .badFormat)
            }
            return text
        } catch {
            let reason = error.errno == .badFormat ? "it is no text in UTF-8" : "\(error)"
            throw Problem(reason: reason, path: path, cause: error)
        }
    }

    private struct Opened: ~Copyable {
        let descriptor: FileDescriptor
        let identity: FileIdentity
    }

    private static func open(_ path: String) throws(Problem) -> Opened {
        do throws(LinuxError) {
            let directory = try OpenDirectory(Files.directory(of: path))
            let file = try directory.open(Files.name(of: path), [.reading, .nonBlocking])
            let status = try file.status()
            guard status.kind == .file else { throw LinuxError("open", path, .invalid) }
            return Opened(descriptor: file, identity: status.identity)
        } catch {
            switch error.errno {
            case .noEntry: throw Problem(reason: "there is no such file", path: path)
            case .invalid: throw Problem(reason: "it is no file", path: path)
            case .loop: throw Problem(reason: "a link leads to it", path: path)
            default: throw Problem(reason: "\(error)", path: path, cause: error)
            }
        }
    }
}
