import EventLoop
import GatewayCore
import GatewayShell
import Linux
import TLS
import TestKit
import Vocabulary
import Wire

/// The two ends of idle links, each in a process of its own, so that their memory and processor
/// time can be told apart. It speaks with `offstage-bench` in lines.
///
///     offstage-bench-links serve DIRECTORY            the gateway's device side; prints its port
///     offstage-bench-links hold DIRECTORY PORT COUNT KIND
///                                                     so many devices; KIND: link or mqtt
///
/// `hold` prints `ready`, then for each line `N` on its input that so many of the devices have sent
/// a keep-alive, one after the other, and had their answer.
@main
enum Main {
    static func main() throws {
        try CurrentProcess.ignore(signal: Signal.pipe)
        let files = try ResourceLimit(current: .openFiles)
        try ResourceLimit(.openFiles, soft: files.hard, hard: files.hard).apply()
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("serve", 2): try serve(words[1])
        case ("hold", 5):
            guard let port = UInt16(words[2]), let count = Int(words[3]) else { throw Usage() }
            let holder = try Holder(words[1], port, isLink: words[4] == "link")
            try holder.hold(count)
        default: throw Usage()
        }
    }

    struct Usage: Error {}

    private static func serve(_ directory: String) throws {
        let loop = try EventLoop()
        let storage = try SQLiteStorage(directory + "/store")
        let node = try GatewayNode(
            loop,
            storage,
            GatewayLimits(),
            seal: try SyntheticTokens(key: [UInt8](repeating: 1, count: 32)),
            identity: 1
        )
        let context = try TLSContext(
            server: try Files.text(directory + "/server.pem"),
            key: try Files.text(directory + "/server.key"),
            protocols: [LinkFormat.protocolName],
            suites: LinkFormat.suites
        )
        var limits = LinkLimits()
        // All come as fast as they can.
        limits.welcomesPerSecond = 1_000_000
        let listener = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0))
        let server = try LinkServer(loop, listener, context, limits, owner: node)
        node.links = server
        let output = FileDescriptor(owning: 1)
        try output.writeAll("\(server.port ?? 0)\n")
        while try loop.runTurn(limit: 256) {
            node.endTurn()
            server.flush()
        }
    }
}

/// Devices with nothing but their connections.
final class Holder {
    private let context: TLSContext
    private let address: InternetAddress
    private let isLink: Bool
    private var devices: [Connection] = []
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    private final class Connection {
        let descriptor: FileDescriptor
        var session: TLSSession
        var reader = FrameReader<GatewayFrame>()

        init(
            _ descriptor: consuming FileDescriptor,
            _ context: TLSContext
        ) throws(TLSError) {
            let number = descriptor.number
            self.descriptor = descriptor
            session = try TLSSession(context, connecting: number, to: "127.0.0.1")
        }
    }

    init(_ directory: String, _ port: UInt16, isLink: Bool) throws {
        self.isLink = isLink
        address = InternetAddress(host: "127.0.0.1", port: port)
        context = try TLSContext(
            clientTrusting: try Files.text(directory + "/ca.pem"),
            protocols: isLink ? [LinkFormat.protocolName] : []
        )
    }

    func hold(_ count: Int) throws {
        for number in 0..<count { devices.append(try connect(number)) }
        let output = FileDescriptor(owning: 1)
        try output.writeAll("ready\n")
        let input = FileDescriptor(owning: 0)
        while true {
            let line = try input.read(upTo: 64)
            guard !line.isEmpty else { return }
            let text = String(decoding: line, as: UTF8.self)
            guard let round = Int(text.filter(\.isNumber)) else { return }
            for device in devices.prefix(round) {
                try write(keepAlive, over: device)
                try wait(for: device, isKeepAlive: true)
            }
            try output.writeAll("done\n")
        }
    }

    private var keepAlive: [UInt8] {
        // MQTT: PINGREQ.
        isLink ? DeviceFrame.keepAlive(.init(next: 300)).bytes : [0xC0, 0x00]
    }

    private func connect(_ number: Int) throws -> Connection {
        let socket = try InternetSocket.connect(to: address)
        try socket.setNonBlocking(true)
        let device = try Connection(socket, context)
        var isDone = false
        while !isDone {
            switch try device.session.handshake() {
            case .done: isDone = true
            case .wantsRead: try Wait.until(readable: device.descriptor.number)
            case .wantsWrite:
                try Wait.until(readable: device.descriptor.number, events: .writable)
            }
        }
        if isLink {
            try greet(device)
        } else {
            // CONNECT, clean session, keep-alive 0, a client id of its own.
            let id = Array("device\(number)".utf8)
            let body: [UInt8] =
                [0, 4] + Array("MQTT".utf8) + [4, 2, 0, 0, 0, UInt8(id.count)] + id
            try write([0x10, UInt8(body.count)] + body, over: device)
            try wait(for: device, isKeepAlive: false)
        }
        return device
    }

    private func greet(_ device: Connection) throws {
        guard case .challenge(let challenge) = try frames(from: device).first else {
            throw DidNotHappen(description: "a challenge")
        }
        let key = try Ed25519PrivateKey()
        let binding = try device.session.exportedKey(
            LinkFormat.exporterLabel,
            count: LinkFormat.bindingBytes
        )
        let proof = LinkFormat.proof(challenge: challenge.nonce, binding: binding)
        let hello = DeviceFrame.Hello(
            key: try key.publicKey().bytes,
            signature: try key.sign(proof),
            next: 300,
            condition: LinkCondition()
        )
        try write(DeviceFrame.hello(hello).bytes, over: device)
        guard case .welcome = try frames(from: device).first else {
            throw DidNotHappen(description: "a welcome")
        }
        let register = DeviceFrame.register(topic: "org.example.App", renewing: false)
        try write(register.bytes, over: device)
        guard case .registered = try frames(from: device).first else {
            throw DidNotHappen(description: "a token")
        }
    }

    private func write(_ bytes: [UInt8], over device: Connection) throws {
        // Never more than the socket takes.
        guard try device.session.write(bytes.span) == .bytes(bytes.count) else {
            throw DidNotHappen(description: "room for \(bytes.count) bytes")
        }
    }

    private func wait(for device: Connection, isKeepAlive: Bool) throws {
        if isLink {
            guard try frames(from: device).contains(.keptAlive) else {
                throw DidNotHappen(description: "the answer to a keep-alive")
            }
        } else {
            _ = try read(from: device)
        }
    }

    private func read(from device: Connection) throws -> ArraySlice<UInt8> {
        while true {
            switch try device.session.read(into: &buffer) {
            case .bytes(let count): return buffer[..<count]
            case .wantsRead, .wantsWrite: try Wait.until(readable: device.descriptor.number)
            case .closed: throw DidNotHappen(description: "the connection")
            }
        }
    }

    private func frames(from device: Connection) throws -> [GatewayFrame] {
        var frames: [GatewayFrame] = []
        while frames.isEmpty {
            let bytes = try read(from: device)
            try device.reader.read(bytes) { frames.append($0) }
        }
        return frames
    }
}
