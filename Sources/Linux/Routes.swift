internal import CLinux
internal import Glibc

/// Tells when the kernel's routes or interfaces may have changed. Poll the descriptor for reading.
package final class RouteEvents: Sendable {
    package let descriptor: FileDescriptor

    package init() throws(LinuxError) {
        descriptor = FileDescriptor(
            owning: try check(clinux_socket_route_events(), "socket", "routes")
        )
    }

    /// Reads away what waits.
    package func happened() throws(LinuxError) -> Bool {
        try check(clinux_drain_route_events(descriptor.number), "recvfrom", "routes") > 0
    }
}

/// The kernel's routes, as /proc/net has them.
package enum Routes {
    package static let usualDirectory = "/proc/net"

    private static let isUp: UInt32 = 1
    private static let isReject: UInt32 = 0x200

    /// The interfaces with a route to everywhere, without those that lead nowhere. Throws when
    /// neither table can be read.
    package static func everywhere(in directory: String) throws(LinuxError) -> Set<String> {
        let ip6 = try? Files.text(directory + "/ipv6_route", limit: 1 << 24)
        do throws(LinuxError) {
            let ip4 = try Files.text(directory + "/route", limit: 1 << 24)
            return names4(ip4).union(names6(ip6 ?? ""))
        } catch {
            guard let ip6 else { throw error }
            return names6(ip6)
        }
    }

    /// Interface, destination, gateway, flags, three numbers, mask.
    static func names4(_ text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").dropFirst().compactMap { line in
                let fields = line.split { $0 == "\t" || $0 == " " }
                guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000",
                    let flags = UInt32(fields[3], radix: 16), isUsable(flags)
                else { return nil }
                return String(fields[0])
            }
        )
    }

    /// Destination, its prefix, source, its prefix, next hop, three numbers, flags, interface.
    static func names6(_ text: String) -> Set<String> {
        Set(
            text.split(separator: "\n").compactMap { line in
                let fields = line.split(separator: " ")
                guard fields.count >= 10, fields[1] == "00", fields[9] != "lo",
                    fields[0].utf8.allSatisfy({ $0 == UInt8(ascii: "0") }),
                    let flags = UInt32(fields[8], radix: 16), isUsable(flags)
                else { return nil }
                return String(fields[9])
            }
        )
    }

    private static func isUsable(_ flags: UInt32) -> Bool {
        flags & isUp != 0 && flags & isReject == 0
    }

    /// Whether one of these has a carrier; one that cannot be asked counts.
    package static func runs(_ interface: String) -> Bool {
        unsafe clinux_interface_runs(interface) != 0
    }
}
