import GatewayShell
import Glibc
import Linux
import TestKit

/// nghttpd, answering the requests that the gateway gets from a file of three bytes.
final class PlainServer {
    private let process: PidFD
    private let gateway: BenchGateway
    private let url: String

    /// `path`: as long as those of pushes, and of one file, since files are not what is measured.
    init(_ gateway: BenchGateway, path: String) throws {
        self.gateway = gateway
        let port = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0)).port
        let root = gateway.scratch("root")
        let parent =
            root
            + path.split(separator: "/").dropLast()
            .map { "/" + $0 }.joined()
        try Files.makeDirectory(parent, permissions: 0o755, parents: true)
        try Files.replace(root + path, with: "ok\n")
        process = try Command(
            "nghttpd",
            "-d",
            root,
            "-a",
            "127.0.0.1",
            "\(port)",
            gateway.paths.certificateKey,
            gateway.paths.certificate
        ).start()
        url = "https://localhost:\(port)\(path)"
        let address = InternetAddress(host: "127.0.0.1", port: port)
        while (try? InternetSocket.connect(to: address).number) == nil { usleep(10_000) }
    }

    deinit {
        try? process.send(Signal.kill)
        _ = try? process.wait(block: true)
    }

    /// Seconds of its processor for a request with the fields and the body of a push.
    func requestCost(_ count: Int) throws -> Double {
        let before = try Processor.seconds(of: process.pid)
        _ = try gateway.h2load([url], count, gateway.headers)
        return (try Processor.seconds(of: process.pid) - before) / Double(count)
    }
}
