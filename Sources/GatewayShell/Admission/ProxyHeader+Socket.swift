import GatewayCore
import Linux

extension AddressPolicy {
    /// How far the PROXY header of a connection has been read.
    enum HeaderProgress {
        /// More of it is to come.
        case incomplete
        /// It is read, or there is none; it names no client.
        case done
        /// It names a client, of this group; nil: one that is not counted.
        case client(AddressGroup?)
    }

    /// Reads what has arrived of the header, and sets it to nil once it is complete.
    func read(
        _ header: inout ProxyHeader?,
        from socket: borrowing FileDescriptor
    ) throws -> HeaderProgress {
        guard var rest = header else { return .done }
        let source = try rest.read(from: socket)
        header = source == nil ? rest : nil
        guard let source else { return .incomplete }
        guard case .client(let address) = source else { return .done }
        return .client(group(of: address))
    }
}

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
