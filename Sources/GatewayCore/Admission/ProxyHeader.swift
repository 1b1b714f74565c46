package import Vocabulary

/// What a load balancer writes in front of a connection: for whom it is (PROXY protocol, version
/// 2). Read as far as `missing` says, so that nothing behind it is taken.
package struct ProxyHeader: Sendable {
    package enum Source: Equatable, Sendable {
        case client(IPAddress)
        /// The balancer itself, to see whether somebody is there, or for someone without an
        /// address.
        case proxy
    }

    /// What came is no such header.
    package struct Malformed: Error {
        package init() {}
    }

    /// More than any balancer has to say.
    package static let longest = 4096
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    private static let fixed = 16

    private var bytes: [UInt8] = []

    package init() {}

    private var isFixedPartWhole: Bool { bytes.count >= Self.fixed }
    private var rest: Int { Int(bytes[14]) << 8 | Int(bytes[15]) }

    /// How many bytes may be read for it; 0: it is whole.
    package var missing: Int {
        isFixedPartWhole ? Self.fixed + rest - bytes.count : Self.fixed - bytes.count
    }

    /// Takes at most `missing` bytes; says who connects once it is whole.
    package mutating func take(_ more: [UInt8]) throws(Malformed) -> Source? {
        guard more.count <= missing else { throw Malformed() }
        bytes += more
        guard zip(bytes, Self.signature).allSatisfy({ $0 == $1 }) else { throw Malformed() }
        guard isFixedPartWhole else { return nil }
        let (command, family) = (bytes[12], bytes[13])
        guard command == 0x20 || command == 0x21, Self.fixed + rest <= Self.longest else {
            throw Malformed()
        }
        guard missing == 0 else { return nil }
        if command == 0x20 { return .proxy }
        switch family {
        case 0x11: return .client(try address(bytes: 4, of: 12))
        case 0x21: return .client(try address(bytes: 16, of: 36))
        // Unspecified, or a socket of its own machine.
        case 0x00, 0x31: return .proxy
        default: throw Malformed()
        }
    }

    private func address(bytes count: Int, of least: Int) throws(Malformed) -> IPAddress {
        guard rest >= least, let address = IPAddress(bytes[Self.fixed..<Self.fixed + count])
        else { throw Malformed() }
        return address
    }
}
