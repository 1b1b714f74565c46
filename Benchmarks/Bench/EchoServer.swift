import EventLoop
import GatewayShell
import Linux
import TLS
import TestKit
import Vocabulary

/// A bare TLS server in C, and as many connections to it as devices: 200 bytes come, 20 go back.
final class EchoServer {
    private let process: PidFD
    private let loop: EventLoop
    private var connections: [Connection] = []
    private var messages = 0

    private final class Connection {
        let descriptor: FileDescriptor
        var session: TLSSession
        var source: DescriptorSource?
        var received = 0

        init(_ port: UInt16, _ context: TLSContext) throws {
            let socket = try InternetSocket.connect(
                to: InternetAddress(host: "127.0.0.1", port: port)
            )
            let number = socket.number
            descriptor = socket
            session = try TLSSession(context, connecting: number, to: "localhost")
            guard try session.handshake() == .done else {
                throw DidNotHappen(description: "a handshake over a blocking socket")
            }
            try descriptor.setNonBlocking(true)
        }
    }

    init(_ gateway: BenchGateway) throws {
        loop = try EventLoop()
        let log = gateway.scratch("echo")
        process = try Command(
            Products.path(of: "offstage-bench-echo"),
            gateway.paths.certificate,
            gateway.paths.certificateKey
        ).start(logging: log)
        let line = try Wait.until(file: log, "the echo server listens") { $0.contains("\n") }
        let context = try TLSContext(clientTrusting: try Files.text(gateway.paths.authority))
        guard let port = UInt16(line.prefix { $0.isNumber }) else {
            throw DidNotHappen(description: line)
        }
        for _ in 0..<PushFigures.devices {
            let connection = try Connection(port, context)
            connection.source = try DescriptorSource(
                loop,
                connection.descriptor.number,
                .readable
            ) { [unowned self, unowned connection] _ in read(connection) }
            connections.append(connection)
        }
    }

    deinit {
        try? process.send(Signal.kill)
        _ = try? process.wait(block: true)
    }

    private var buffer = [UInt8](repeating: 0, count: 4096)

    private func read(_ connection: Connection) {
        guard case .bytes(let count) = try? connection.session.read(into: &buffer) else { return }
        connection.received += count
        while connection.received >= 200 {
            connection.received -= 200
            messages += 1
            ask(connection)
        }
    }

    private func ask(_ connection: Connection) {
        let question = [UInt8](repeating: 1, count: 20)
        _ = try? connection.session.write(question.span)
    }

    /// Seconds of the server's processor for one message out and one back.
    func messageCost(_ count: Int) throws -> Double {
        if messages == 0 { for connection in connections { ask(connection) } }
        let begin = messages + PushFigures.devices
        while messages < begin { _ = try loop.runTurn(limit: 256) }
        let (start, before) = (messages, try Processor.seconds(of: process.pid))
        while messages < start + count { _ = try loop.runTurn(limit: 256) }
        return (try Processor.seconds(of: process.pid) - before) / Double(messages - start)
    }
}
