internal import CLinux
internal import Glibc
package import Vocabulary

/// A host and a port, as `localhost:443`, `192.0.2.1:443`, `[2001:db8::1]:443`, or `:443` for every
/// address of the machine.
package struct InternetAddress: Equatable, Sendable {
    /// A name or a number; empty: every address (to listen at), or loopback (to connect to).
    package var host: String
    package var port: UInt16

    package init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

    /// `port` is for a text without one.
    package init?(_ text: String, port standard: UInt16? = nil) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            text.utf8.last != UInt8(ascii: "]")
        else {
            guard let standard, !text.isEmpty else { return nil }
            self.init(host: Self.bare(text[...]), port: standard)
            return
        }
        guard let port = UInt16(text[text.utf8.index(after: colon)...]) else { return nil }
        let host = text[..<colon]
        guard host.hasPrefix("[") == host.hasSuffix("]"),
            host.hasPrefix("[") || !host.utf8.contains(UInt8(ascii: ":"))
        else { return nil }
        self.init(host: Self.bare(host), port: port)
    }

    private static func bare(_ host: Substring) -> String {
        host.hasPrefix("[") && host.hasSuffix("]")
            ? String(host.dropFirst().dropLast()) : String(host)
    }
}

extension InternetAddress: CustomStringConvertible {
    package var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// A listening TCP socket.
package struct InternetListener: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    /// The one asked for, or the one that the system chose for port 0.
    package let port: UInt16

    /// `isShared`: several listeners at one address share its connections.
    package init(_ address: InternetAddress, isShared: Bool = false) throws(LinuxError) {
        let socket = FileDescriptor(
            owning: try check(
                unsafe clinux_listen_internet(
                    address.host,
                    Int32(address.port),
                    isShared ? 1 : 0
                ),
                "listen",
                "\(address)"
            )
        )
        port = UInt16(
            truncatingIfNeeded: try check(clinux_local_port(socket.number), "getsockname")
        )
        descriptor = socket
    }

    /// Takes over a socket that listens already (socket activation), if `problem` finds none.
    package init(listening socket: consuming FileDescriptor) throws(LinuxError) {
        if let problem = Self.problem(of: socket) {
            throw LinuxError("listen", "descriptor \(socket.number) \(problem)", .invalid)
        }
        // It is asked until nobody is left; one from a service manager would block then.
        try socket.setNonBlocking(true)
        port = UInt16(
            truncatingIfNeeded: try check(clinux_local_port(socket.number), "getsockname")
        )
        descriptor = socket
    }

    /// Why connections cannot be taken from it, in words; nil: they can.
    package static func problem(of socket: borrowing FileDescriptor) -> String? {
        let number = socket.number
        func option(_ name: Int32) -> Int32? {
            var value: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            let result = unsafe getsockopt(number, SOL_SOCKET, name, &value, &size)
            return result == 0 ? value : nil
        }
        guard let family = option(SO_DOMAIN) else { return "is not a socket" }
        guard family == AF_INET || family == AF_INET6 else { return "is not an internet socket" }
        guard option(SO_TYPE) == Int32(SOCK_STREAM.rawValue) else { return "is no TCP socket" }
        return option(SO_ACCEPTCONN) == 1 ? nil : "does not listen"
    }

    /// The next connection, non-blocking and without delay; nil when nobody waits.
    package func accept() throws(LinuxError) -> FileDescriptor? {
        do throws(LinuxError) {
            let socket = FileDescriptor(
                owning: try checkAgain("accept4") { clinux_accept(descriptor.number) }
            )
            // Fails only for a connection that is gone again.
            _ = clinux_set_no_delay(socket.number)
            return socket
        } catch  where error.errno == .again || error.errno == Errno(ECONNABORTED) {
            return nil
        }
    }
}

/// TCP connections.
package enum InternetSocket {
    /// Connects, blocking; the socket blocks as well.
    package static func connect(to address: InternetAddress) throws(LinuxError) -> FileDescriptor {
        let socket = FileDescriptor(
            owning: try check(
                unsafe clinux_connect_internet(address.host, Int32(address.port)),
                "connect",
                "\(address)"
            )
        )
        try check(clinux_set_no_delay(socket.number), "setsockopt", "\(address)")
        return socket
    }

    /// Starts to connect; the socket does not block, and is writable once it is connected or cannot
    /// be. Of a host's addresses it takes the one that `attempt` falls on: count up to try others.
    /// Only looking up a name may wait.
    package static func start(
        connectingTo address: InternetAddress,
        attempt: Int = 0
    ) throws(LinuxError) -> FileDescriptor {
        let attempt = Int32(truncatingIfNeeded: attempt & 0xFFFF)
        let socket = FileDescriptor(
            owning: try check(
                unsafe clinux_start_connecting(address.host, Int32(address.port), attempt),
                "connect",
                "\(address)"
            )
        )
        try check(clinux_set_no_delay(socket.number), "setsockopt", "\(address)")
        return socket
    }

    /// Who is at the other end; nil: nobody any more.
    package static func peer(of socket: borrowing FileDescriptor) -> IPAddress? {
        var bytes = [UInt8](repeating: 0, count: 16)
        guard unsafe clinux_peer_address(socket.number, &bytes) == 0 else { return nil }
        return IPAddress(bytes)
    }
}

extension IPAddress {
    /// As people write it: `192.0.2.1`, `2001:db8::1`.
    package init?(_ text: String) {
        guard let (address, _) = Self.parse(text) else { return nil }
        self = address
    }

    /// With the bits that an address of its kind has: 32 or 128.
    fileprivate static func parse(_ text: String) -> (IPAddress, bits: Int)? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe clinux_parse_address(text, &bytes)
        guard count > 0 else { return nil }
        return IPAddress(bytes).map { ($0, Int(count) * 8) }
    }
}

extension IPNetwork {
    /// `192.0.2.0/24`, `2001:db8::/32`, or one address.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let (address, bits) = IPAddress.parse(String(first))
        else { return nil }
        var prefix = bits
        if parts.count > 1 {
            guard parts[1].allSatisfy(\.isNumber), let number = Int(parts[1]), number <= bits
            else { return nil }
            prefix = number
        }
        self.init(address, prefix: prefix + 128 - bits)
    }
}
