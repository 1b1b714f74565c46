import Linux
import TestKit

/// Stands between a client and the daemon, in the hands of the test.
final class Relay {
    let path: String
    private var listener: UnixListener?

    init(_ path: String) throws {
        self.path = path
        try open()
    }

    func open() throws { listener = try UnixListener(path) }

    /// Nobody listens from now on; who is connected stays so.
    func close() { listener = nil }

    /// Readable when somebody comes.
    var number: Int32 { listener?.descriptor.number ?? -1 }

    /// The next client.
    func accept() throws -> FileDescriptor {
        while true {
            try Wait.until(readable: number, "a client at \(path)")
            if let client = try listener?.accept() { return client }
        }
    }

    /// The next client, with a connection of its own to the daemon at `socket`.
    func accept(for socket: String) throws -> Line {
        let client = try accept()
        return Line(client, try UnixSocket.connect(to: socket))
    }

    final class Line {
        private let client: FileDescriptor
        private let daemon: FileDescriptor

        init(_ client: consuming FileDescriptor, _ daemon: consuming FileDescriptor) {
            self.client = client
            self.daemon = daemon
        }

        /// What came first: of the client, or of the daemon. Empty: that one has hung up.
        private func next() throws -> (isClients: Bool, bytes: [UInt8]) {
            let ready = try Poll.wait(
                for: [(client.number, .readable), (daemon.number, .readable)],
                milliseconds: Wait.limitMilliseconds
            )
            if !ready[0].isEmpty { return (true, (try? client.read(upTo: 65_536)) ?? []) }
            guard !ready[1].isEmpty else {
                throw DidNotHappen(description: "a word of client or daemon")
            }
            return (false, (try? daemon.read(upTo: 65_536)) ?? [])
        }

        private func pass(_ isClients: Bool, _ bytes: [UInt8]) throws {
            if isClients {
                try daemon.writeAll(bytes.span)
            } else {
                try client.writeAll(bytes.span)
            }
        }

        /// Passes on what both say, up to the client's call of a method; the daemon has not heard
        /// that yet.
        func pass(upTo method: String) throws -> [UInt8] {
            while true {
                let (isClients, bytes) = try next()
                if isClients, String(decoding: bytes, as: UTF8.self).contains(method) {
                    return bytes
                }
                try pass(isClients, bytes)
            }
        }

        /// Lets the daemon hear something, and answer; the client does not hear that.
        func answer(_ bytes: [UInt8]) throws {
            try daemon.writeAll(bytes.span)
            try Wait.until(readable: daemon.number, "an answer of the daemon")
        }

        /// Passes on what both say until one hangs up.
        func passAll() throws {
            while true {
                let (isClients, bytes) = try next()
                guard !bytes.isEmpty else { return }
                try pass(isClients, bytes)
            }
        }
    }
}
