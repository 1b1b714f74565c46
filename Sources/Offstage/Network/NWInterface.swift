internal import Linux

/// A way into a network.
public struct NWInterface: Hashable, Sendable, CustomDebugStringConvertible {
    /// What kind of link it is.
    public enum InterfaceType: Sendable, CaseIterable {
        /// A tunnel, a bridge, or what is not known.
        case other
        /// Wi-Fi.
        case wifi
        /// A modem.
        case cellular
        /// A cable.
        case wiredEthernet
        /// This device alone.
        case loopback
    }

    /// As the kernel calls it, such as `wlan0`.
    public let name: String
    /// What kind of link it is.
    public let type: InterfaceType
    /// The kernel's number of it; 0 if it has gone.
    public let index: Int

    /// Its name.
    public var debugDescription: String { name }
}

/// The interfaces that lead out of the device: those with a default route, the preferred first. The
/// kernel says so to every process, and the daemon only whether they lead anywhere.
struct DefaultRoutes {
    /// `root`: where the machine's files are.
    static func interfaces(root: String = "") -> [NWInterface] {
        let four = lines(root + "/proc/net/route").dropFirst().compactMap(Route.init(four:))
        let six = lines(root + "/proc/net/ipv6_route").compactMap(Route.init(six:))
        var found: [NWInterface] = []
        for route in (four + six).sorted(by: { $0.metric < $1.metric })
        where !found.contains(where: { $0.name == route.interface }) {
            found.append(interface(route.interface, root))
        }
        return found
    }

    private static func lines(_ path: String) -> [Substring] {
        ((try? Files.text(path)) ?? "").split(separator: "\n")
    }

    /// A route to everywhere.
    private struct Route {
        let interface: String
        let metric: UInt64
        private static let isUp = 1 as UInt64
        private static let isRefusal = 0x200 as UInt64

        /// `Iface Destination Gateway Flags RefCnt Use Metric Mask …`
        init?(four line: Substring) {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count > 7, fields[1] == "00000000", fields[7] == "00000000",
                Self.leadsOut(fields[3]), let metric = UInt64(fields[6])
            else { return nil }
            (interface, self.metric) = (String(fields[0]), metric)
        }

        /// `destination length source length next-hop metric reference use flags interface`
        init?(six line: Substring) {
            let fields = line.split(whereSeparator: \.isWhitespace)
            guard fields.count > 9, fields[1] == "00", fields[0].allSatisfy({ $0 == "0" }),
                Self.leadsOut(fields[8]), let metric = UInt64(fields[5], radix: 16)
            else { return nil }
            (interface, self.metric) = (String(fields[9]), metric)
        }

        private static func leadsOut(_ flags: Substring) -> Bool {
            guard let flags = UInt64(flags, radix: 16) else { return false }
            return flags & isUp != 0 && flags & isRefusal == 0
        }
    }

    private static func interface(_ name: String, _ root: String) -> NWInterface {
        let directory = root + "/sys/class/net/" + name
        let index = (try? Files.text(directory + "/ifindex", limit: 32)).flatMap {
            Int($0.filter { !$0.isWhitespace })
        }
        return NWInterface(name: name, type: type(directory), index: index ?? 0)
    }

    private static func type(_ directory: String) -> NWInterface.InterfaceType {
        let event = lines(directory + "/uevent").first { $0.hasPrefix("DEVTYPE=") }
        switch event?.dropFirst("DEVTYPE=".count) {
        case "wlan": return .wifi
        case "wwan": return .cellular
        // A bridge, a tunnel, a virtual network.
        case _?: return .other
        case nil: break
        }
        let kind = (try? Files.text(directory + "/type", limit: 32)).flatMap {
            Int($0.filter { !$0.isWhitespace })
        }
        switch kind {
        // ARPHRD_ETHER; a tunnel (tap) has no device below it.
        case 1: return Files.exists(directory + "/device") ? .wiredEthernet : .other
        // ARPHRD_LOOPBACK
        case 772: return .loopback
        // ARPHRD_PPP and ARPHRD_RAWIP are mostly modems' (tunnels have a type of their own).
        case 512, 519: return .cellular
        case _: return .other
        }
    }
}
