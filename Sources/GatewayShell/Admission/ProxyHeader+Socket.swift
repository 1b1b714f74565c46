import GatewayCore
import Linux

extension ProxyHeader {
    /// Reads what there is of it, and nothing behind it; nil: more is to come.
    mutating func read(from socket: borrowing FileDescriptor) throws -> Source? {
        while let bytes = try socket.readAvailable(upTo: missing) {
            // The end.
            if bytes.isEmpty { throw Malformed() }
            if let source = try take(bytes) { return source }
        }
        return nil
    }
}
