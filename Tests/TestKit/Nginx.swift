import Linux
import Vocabulary

/// A real nginx on loopback, with TLS and HTTP/2, and a certificate that only it has.
package final class Nginx {
    private let folder = ScratchDirectory()
    private let process: PidFD
    private let port: UInt16

    /// `clients`: a file with the certificates of those whom it serves; nil: it serves all.
    package init(clients: String? = nil) throws {
        // Listens before nginx does, so that nobody has to wait for it.
        let listener = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0))
        port = listener.port
        try SelfSignedCertificate.make(
            at: folder("certificate"),
            key: folder("key"),
            name: "localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1,DNS:localhost"
        )
        try Files.makeDirectory(folder("files"), permissions: 0o700)
        folder.write(Self.configuration(folder.path, port, clients), to: "configuration")
        var command = Command("nginx", "-c", folder("configuration"), "-e", folder("errors"))
        command.environment = Command.cleanEnvironment([
            "NGINX": "3;", "PATH": "/usr/sbin:/usr/bin:/bin",
        ])
        command.passed = [listener.descriptor.number]
        process = try command.start(logging: folder("log"))
    }

    deinit {
        // Its worker ends with it.
        try? process.send(Signal.terminate)
        _ = try? process.wait(block: true)
    }

    private static func configuration(
        _ folder: String,
        _ port: UInt16,
        _ clients: String?
    ) -> String {
        let verification =
            clients.map { "ssl_client_certificate \($0); ssl_verify_client on;" } ?? ""
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder)/\($0);" }.joined(separator: "\n")
        return """
            daemon off;
            user root;
            pid \(folder)/pid;
            events {}
            http {
                \(temporary)
                log_format short '$connection $server_protocol $status $request_uri';
                access_log \(folder)/access short;
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    ssl_certificate \(folder)/certificate;
                    ssl_certificate_key \(folder)/key;
                    \(verification)
                    root \(folder)/files;
                }
            }

            """
    }

    /// For whom this server is to be trusted.
    package var environment: [String] { ["SSL_CERT_FILE=" + certificate] }
    package var certificate: String { folder("certificate") }

    package func url(_ name: String, host: String = "127.0.0.1") -> String {
        "https://\(host):\(port)/\(name)"
    }

    package func put(_ name: String, _ object: VersionedObject) {
        folder.write(object.all, to: "files/" + name)
    }

    /// One for each request: its connection, the protocol, the status and the path.
    package func requests() throws -> [[Substring]] {
        try folder.read("access").split(separator: "\n").map { $0.split(separator: " ") }
    }
}
