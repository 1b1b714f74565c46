import Linux
import TestKit

/// nginx on loopback, with HTTP/1.1, and with HTTP/2 over TLS. What it serves is in memory.
final class BenchWeb {
    let folder = ScratchDirectory(in: BenchWeb.memory)
    let port: UInt16
    /// One for each server with TLS; all serve the same.
    let securePorts: [UInt16]
    private let process: PidFD

    /// A directory of a tmpfs.
    static let memory = "/dev/shm"
    /// A directory of a disk.
    static let disk = "/var/tmp"

    init(secureServers: Int = 1) throws {
        // They listen before nginx does, so that nobody has to wait for it.
        var listeners = try (0...secureServers).map { _ in try Listener() }
        let ports = listeners.map { $0.socket.port }
        (port, securePorts) = (ports[0], Array(ports.dropFirst()))
        try SelfSignedCertificate.make(
            at: folder("certificate"),
            key: folder("key"),
            name: "localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1"
        )
        try Files.makeDirectory(folder("files"), permissions: 0o700)
        folder.write(Self.configuration(folder.path, port, securePorts), to: "configuration")
        var command = Command("nginx", "-c", folder("configuration"), "-e", folder("errors"))
        command.environment = Command.cleanEnvironment([
            "NGINX": listeners.prefix(2).indices.map { "\($0 + 3);" }.joined(),
            "PATH": "/usr/sbin:/usr/bin:/bin",
        ])
        // No program is passed so many: nginx listens itself where the others have found room.
        listeners.removeLast(secureServers - 1)
        command.passed = listeners.map { $0.socket.descriptor.number }
        process = try command.start(logging: folder("log"))
        // It answers when it listens everywhere.
        let words = ["curl", "-s", "-o", folder("first"), url("", secure: false)]
        try Self.run(words)
    }

    deinit {
        // Its worker ends with it.
        try? process.send(Signal.terminate)
        _ = try? process.wait(block: true)
    }

    private final class Listener {
        let socket: InternetListener
        init() throws { socket = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0)) }
    }

    private static func configuration(
        _ folder: String,
        _ port: UInt16,
        _ secure: [UInt16]
    ) -> String {
        let listens = secure.map { "listen 127.0.0.1:\($0) ssl http2;" }.joined(separator: "\n")
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: "\n")
        return """
            daemon off;
            user root;
            worker_processes 1;
            pid \(folder)/pid;
            events {}
            http {
                \(temporary)
                sendfile on;
                keepalive_requests 1000000;
                log_format short '$status "$http_range" $server_protocol $uri';
                access_log \(folder)/access short;
                server {
                    listen 127.0.0.1:\(port);
                    \(listens)
                    ssl_certificate \(folder)/certificate;
                    ssl_certificate_key \(folder)/key;
                    root \(folder)/files;
                    location /in/ {
                        dav_methods PUT;
                        create_full_put_path on;
                        client_max_body_size 0;
                    }
                }
            }

            """
    }

    static func run(_ words: [String]) throws {
        let outcome = try Command(words).run()
        guard outcome.succeeded else { throw DidNotHappen(description: outcome.errors) }
    }

    var certificate: String { folder("certificate") }

    func url(_ name: String, secure: Bool) -> String {
        secure ? secureURLs(name)[0] : "http://127.0.0.1:\(port)/\(name)"
    }

    /// One for each server with TLS.
    func secureURLs(_ name: String) -> [String] {
        securePorts.map { "https://127.0.0.1:\($0)/\(name)" }
    }

    /// Its certificate behind those of the system's authorities, as a device trusts them.
    func certificateWithAuthorities() throws -> String {
        let authorities = try Files.text("/etc/ssl/certs/ca-certificates.crt", limit: 4 << 20)
        folder.write(authorities + (try Files.text(certificate)), to: "authorities")
        return folder("authorities")
    }

    /// The path of what is served under a name.
    func path(_ name: String) -> String { folder("files/\(name)") }

    /// Where the part began that was asked for last; 0: all was.
    func lastRangeStart() throws -> Int64 {
        guard let line = try folder.read("access").split(separator: "\n").last,
            let text = line.firstRange(of: "bytes=").map({ line[$0.upperBound...] })
        else { return 0 }
        return Int64(text.prefix { $0.isNumber }) ?? 0
    }

    // MARK: What it is sent

    /// A URL that takes a file by PUT.
    func intake(_ name: String, secure: Bool) -> String { url("in/\(name)", secure: secure) }

    func taken() throws -> Int { try Files.list(path("in")).count }

    func forgetTaken() throws { try Files.removeTree(path("in")) }

    // MARK: What it serves

    /// Bytes that look like nothing in particular.
    func put(_ name: String, bytes: Int) throws {
        try Files.makeDirectory(
            Files.directory(of: path(name)),
            permissions: 0o755,
            parents: true
        )
        let random = try FileDescriptor(opening: "/dev/urandom", .reading)
        let file = try FileDescriptor(opening: path(name), [.writing, .create, .truncate])
        var left = bytes
        while left > 0 {
            let piece = try random.read(upTo: min(left, 1 << 20))
            try file.writeAll(piece.span)
            left -= piece.count
        }
    }
}
