import Glibc
import TLS

/// The bytes of a connection.
protocol FaultStream {
    /// At most `count`; nil: there are no more.
    func read(_ count: Int) -> [UInt8]?
    /// False: nobody takes them.
    func send(_ bytes: [UInt8]) -> Bool
}

struct PlainStream: FaultStream {
    let socket: Int32

    func read(_ count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = recv(socket, &buffer, count, 0)
        return got > 0 ? Array(buffer[..<got]) : nil
    }

    func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = Array(bytes[done...])
            let count = Glibc.send(socket, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}

/// Over a socket that blocks.
final class SecureStream: FaultStream {
    private var session: TLSSession

    init(_ socket: Int32, _ context: TLSContext) throws {
        var session = try TLSSession(context, serving: socket)
        guard try session.handshake() == .done else {
            throw DidNotHappen(description: "a handshake")
        }
        self.session = session
    }

    func read(_ count: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        guard case .bytes(let got) = try? session.read(into: &buffer) else { return nil }
        return Array(buffer[..<got])
    }

    func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = bytes.span.extracting(done..<bytes.count)
            guard case .bytes(let count) = try? session.write(rest) else { return false }
            done += count
        }
        return true
    }
}
