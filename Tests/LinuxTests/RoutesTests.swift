@testable import Linux
import TestKit
import Testing

/// Routes and thermal zones as the kernel writes them.
struct RoutesTests {
    private static let header =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    @Test func `only a usable route to everywhere counts`() {
        let gateway = "wlan0\t00000000\t0100A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
        let local = "eth0\t0000A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
        let reject = "*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0\n"
        let half = "tun0\t00000000\t0100000A\t0003\t0\t0\t0\t00000080\t0\t0\t0\n"
        #expect(Routes.names4(Self.header + local + gateway) == ["wlan0"])
        #expect(Routes.names4(Self.header + local + reject + half).isEmpty)
        #expect(Routes.names4("").isEmpty)
    }

    @Test func `of IPv6 the loopback's own routes do not count`() {
        let zero = String(repeating: "0", count: 32)
        let via = "fe800000000000000000000000000001"
        let rest = "00000400 00000001 00000000"
        let gateway = "\(zero) 00 \(zero) 00 \(via) \(rest) 00000003     eth0\n"
        let loopback = "\(zero) 00 \(zero) 00 \(zero) \(rest) 00200200       lo\n"
        let link = "fe80\(zero.dropFirst(4)) 40 \(zero) 00 \(zero) \(rest) 00000001     eth1\n"
        #expect(Routes.names6(loopback + link + gateway) == ["eth0"])
        #expect(Routes.names6(loopback + link).isEmpty)
    }

    @Test func `the loopback interface runs, and one that is not there counts`() {
        #expect(Routes.runs("lo"))
        #expect(Routes.runs("nosuchinterface"))
    }

    @Test func `a thermal zone is read with the limits that it has`() throws {
        let scratch = ScratchDirectory()
        func zone(_ number: Int, _ files: [String: String]) throws {
            for (name, text) in files {
                try scratch.write("thermal_zone\(number)/\(name)", text + "\n")
            }
        }
        try zone(
            0,
            [
                "temp": "48000", "trip_point_0_type": "critical", "trip_point_0_temp": "105000",
                "trip_point_1_type": "passive", "trip_point_1_temp": "95000",
                "trip_point_2_type": "active", "trip_point_2_temp": "40000",
            ]
        )
        // Without limits, with one that is not set, and one that cannot be read.
        try zone(1, ["temp": "30000"])
        try zone(
            2,
            ["temp": "30000", "trip_point_0_type": "critical", "trip_point_0_temp": "-274000"]
        )
        try zone(3, ["trip_point_0_type": "hot", "trip_point_0_temp": "90000"])
        try scratch.write("cooling_device0/type", "Fan\n")
        let zones = try ThermalZone.all(in: scratch.path)
        let cpu = ThermalZone(
            name: "thermal_zone0",
            temperature: 48_000,
            passive: 95_000,
            critical: 105_000
        )
        #expect(zones == [cpu])
    }
}
