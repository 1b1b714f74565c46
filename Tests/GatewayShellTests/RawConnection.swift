import GatewayShell
import HTTP2
import Linux
import TLS
import TestKit

/// HTTP/2 by hand, for what no client library sends.
final class RawConnection {
    private let socket: FileDescriptor
    private var tls: TLSSession

    static let preface = RawHTTP2.preface
    static let settings = RawHTTP2.settings

    /// Over TLS, behind `header`; reading waits at most as long as a test may.
    convenience init(
        _ gateway: ScratchGateway,
        port: UInt16? = nil,
        host: String = "127.0.0.1",
        protocols: [String] = ["h2"],
        identity: String? = nil,
        header: [UInt8] = []
    ) throws {
        let port = port ?? gateway.port
        let socket = try Self.connect(port, host)
        try socket.writeAll(header.span)
        try self.init(socket, trusting: gateway.paths.authority, protocols, identity)
    }

    /// The first half of it.
    static func connect(
        _ port: UInt16,
        _ host: String = "127.0.0.1"
    ) throws -> FileDescriptor {
        try InternetSocket.connect(to: InternetAddress(host: host, port: port))
    }

    /// The second.
    init(
        _ connected: consuming FileDescriptor,
        trusting authority: String,
        _ protocols: [String] = ["h2"],
        _ identity: String? = nil
    ) throws {
        socket = connected
        let context = try TLSContext(
            clientTrusting: try Files.text(authority),
            protocols: protocols,
            identity: identity.map { ($0, $0) }
        )
        tls = try TLSSession(context, connecting: socket.number, to: "localhost")
        guard try tls.handshake() == .done else { throw DidNotHappen(description: "handshake") }
        try socket.setNonBlocking(true)
    }

    static func frame(
        _ type: UInt8,
        _ flags: UInt8,
        _ stream: UInt32,
        _ payload: [UInt8]
    ) -> [UInt8] {
        RawHTTP2.frame(type, flags, stream, payload)
    }

    static func block(_ fields: [(String, String)]) -> [UInt8] { RawHTTP2.block(fields) }

    static func request(_ path: String, _ more: [(String, String)] = []) -> [UInt8] {
        RawHTTP2.request(path, more)
    }

    /// Sends until the other side takes no more or is gone; whether all went.
    @discardableResult
    func send(_ bytes: [UInt8], reading: Bool = true) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let rest = bytes.span.extracting(sent..<bytes.count)
            guard let transfer = try? tls.write(rest) else { return false }
            switch transfer {
            case .bytes(let count): sent += count
            case .wantsWrite:
                // It does not read while it has something to say that we do not read.
                if reading { _ = read() }
                let events: Poll.Events = reading ? [.writable, .readable] : .writable
                guard Poll.ready(socket.number, for: events, milliseconds: 60_000) else {
                    return false
                }
            case .wantsRead, .closed: return false
            }
        }
        return true
    }

    private var received: [UInt8] = []
    private(set) var isClosed = false

    /// What is there now.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !isClosed {
            guard let transfer = try? tls.read(into: &buffer) else {
                isClosed = true
                break
            }
            switch transfer {
            case .bytes(let count): received += buffer[..<count]
            case .wantsRead, .wantsWrite: return true
            case .closed: isClosed = true
            }
        }
        return false
    }

    /// Everything up to the end of the connection.
    func bytes() -> [UInt8] {
        while read(), Poll.ready(socket.number, for: .readable, milliseconds: 60_000) {}
        return received
    }

    func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    struct Frame: Equatable {
        var type: UInt8
        var flags: UInt8
        var stream: UInt32
        var payload: [UInt8]

        /// The code of a RST_STREAM or a GOAWAY.
        var code: UInt32? {
            let start = type == 3 ? 0 : type == 7 ? 4 : nil
            guard let start, payload.count >= start + 4 else { return nil }
            return payload[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Frames until one is as wanted, or the end.
    func frames(until isLast: (Frame) -> Bool = { _ in false }) -> [Frame] {
        var frames: [Frame] = []
        while true {
            while received.count >= 9 {
                let count = received[..<3].reduce(0) { $0 << 8 | Int($1) }
                guard received.count >= 9 + count else { break }
                let frame = Frame(
                    type: received[3],
                    flags: received[4],
                    stream: received[5..<9].reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF,
                    payload: Array(received[9..<(9 + count)])
                )
                received.removeFirst(9 + count)
                frames.append(frame)
                if isLast(frame) { return frames }
            }
            guard read() else {
                // The end may come within a frame.
                let count = received.prefix(3).reduce(0) { $0 << 8 | Int($1) }
                if received.count < 9 + count { return frames }
                continue
            }
            if received.count >= 9 { continue }
            guard Poll.ready(socket.number, for: .readable, milliseconds: 60_000) else {
                return frames
            }
        }
    }
}
