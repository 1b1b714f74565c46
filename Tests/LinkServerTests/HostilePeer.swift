import EventLoop
import Linux
import TLS
import TestKit
import Wire

/// A peer that says what it likes, over a real TLS connection.
final class HostilePeer {
    private let descriptor: FileDescriptor
    private var session: TLSSession
    private var reader = FrameReader<GatewayFrame>()
    private(set) var frames: [GatewayFrame] = []
    private(set) var isClosed = false
    private let world: LinkWorld

    /// `header`: what it says before TLS.
    init(
        _ world: LinkWorld,
        _ protocols: [String] = [LinkFormat.protocolName],
        header: [UInt8] = []
    ) throws {
        self.world = world
        let descriptor = try InternetSocket.start(connectingTo: world.address)
        let number = descriptor.number
        if !header.isEmpty {
            try Wait.until(readable: number, "the connection", events: .writable)
            try descriptor.writeAll(header.span)
        }
        self.descriptor = descriptor
        let context = try TLSContext(clientTrusting: world.anchors, protocols: protocols)
        session = try TLSSession(context, connecting: number, to: "127.0.0.1")
        var isDone = false
        while !isDone {
            switch try session.handshake() {
            case .done: isDone = true
            case .wantsRead, .wantsWrite: try step()
            }
        }
    }

    /// Lets the gateway work when it has something to do.
    private func step() throws {
        let loop = world.loop.descriptor
        let ready = try Poll.wait(
            for: [(loop, .readable), (descriptor.number, .readable)],
            milliseconds: Wait.limitMilliseconds
        )
        guard ready.contains(where: { !$0.isEmpty }) else {
            throw DidNotHappen(description: "anything at all")
        }
        if !ready[0].isEmpty { try world.turn() }
    }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count, !isClosed {
            switch try? session.write(bytes.span.extracting(sent..<bytes.count)) {
            case .bytes(let count): sent += count
            case .wantsRead, .wantsWrite: try step()
            case .closed, nil: isClosed = true
            }
        }
    }

    /// The secret of the connection, for a hello.
    func binding() throws -> [UInt8] {
        try session.exportedKey(LinkFormat.exporterLabel, count: LinkFormat.bindingBytes)
    }

    /// Reads until the frames are as wanted, or the gateway has closed.
    func read(until isWanted: ([GatewayFrame]) -> Bool = { _ in false }) throws {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while !isClosed, !isWanted(frames) {
            switch try? session.read(into: &buffer) {
            case .bytes(let count): try reader.read(buffer[..<count]) { frames.append($0) }
            case .wantsRead, .wantsWrite: try step()
            case .closed, nil: isClosed = true
            }
        }
    }

    /// The nonce of the challenge.
    func challenge() throws -> [UInt8] {
        try read { !$0.isEmpty }
        guard case .challenge(let challenge) = frames.first else {
            throw DidNotHappen(description: "a challenge")
        }
        return challenge.nonce
    }

    func hello(_ key: Ed25519PrivateKey, challenge: [UInt8]) throws -> DeviceFrame {
        let proof = LinkFormat.proof(challenge: challenge, binding: try binding())
        return .hello(
            .init(
                key: try key.publicKey().bytes,
                signature: try key.sign(proof),
                next: 60,
                condition: LinkCondition()
            )
        )
    }

    /// Why the gateway ended the link; nil when it did not say.
    var ending: EndReason? {
        for case .end(let ending) in frames { return ending.reason }
        return nil
    }
}
