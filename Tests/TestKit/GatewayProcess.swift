package import Linux
import Vocabulary

/// The gateway's program serving a directory, at ports that the system chose, from its start to the
/// end of this object.
package final class GatewayProcess {
    /// The first of those for providers.
    package let port: UInt16
    package let ports: [UInt16]
    package let devicePort: UInt16
    /// Nil: no metrics are served.
    package let metricsPort: UInt16?
    /// Seconds from before its start until it says that it serves.
    package let startTime: Double
    private let process: PidFD

    package static let program = Products.path(of: "offstage-gateway")

    /// `sockets` are handed over as by a service manager.
    package init(
        serving directory: String,
        logging log: String,
        sockets: [(name: String, number: Int32)] = [],
        listen: String? = "127.0.0.1:0"
    ) throws {
        try? Files.remove(log)
        let start = Clocks.boot()
        process = try Self.command(directory, sockets, listen: listen).start(logging: log)
        // Warnings may stand before it.
        func line(of text: String) -> Substring? {
            text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .first { $0.contains("serving providers") }
        }
        let text = try Wait.until(file: log, "the gateway serves") { line(of: $0) != nil }
        startTime = Double((Clocks.boot() - start).nanoseconds) / 1e9
        var found: [Substring: [UInt16]] = [:]
        var kind: Substring = ""
        for word in (line(of: text) ?? "").split(whereSeparator: { $0 == " " || $0 == "," }) {
            if ["providers", "devices", "metrics"].contains(word) { kind = word }
            if let number = UInt16(word) { found[kind, default: []].append(number) }
        }
        guard let ports = found["providers"], let devices = found["devices"]?.first else {
            throw DidNotHappen(description: text)
        }
        (self.ports, port, devicePort) = (ports, ports[0], devices)
        metricsPort = found["metrics"]?.first
    }

    /// `serve`, at ports that the system chooses. `listen` nil: where the settings say.
    package static func command(
        _ directory: String,
        _ sockets: [(name: String, number: Int32)] = [],
        listen: String? = "127.0.0.1:0"
    ) -> Command {
        var words = [program, "serve", "--directory=\(directory)", "--devices=127.0.0.1:0"]
        if let listen { words.append("--listen=\(listen)") }
        var command = Command(words)
        command.newSession = false
        guard !sockets.isEmpty else { return command }
        // The process that they are for has its number once it runs.
        command.arguments = ["/bin/sh", "-c", "export LISTEN_PID=$$; exec \"$@\"", "sh"] + words
        command.environment = Command.cleanEnvironment([
            "LISTEN_FDS": "\(sockets.count)",
            "LISTEN_FDNAMES": sockets.map(\.name).joined(separator: ":"),
        ])
        command.passed = sockets.map(\.number)
        return command
    }

    deinit {
        try? process.send(Signal.kill)
        _ = try? process.wait(block: true)
    }

    package var pid: Int32 { process.pid }

    package func send(_ signal: Int32) throws { try process.send(signal) }

    /// SIGTERM, and how it ended.
    package func terminate() throws -> ProcessExit {
        try process.send(Signal.terminate)
        try Wait.until(readable: process.descriptor.number, "the end of the gateway")
        return try process.wait(block: true) ?? .unknown
    }
}
