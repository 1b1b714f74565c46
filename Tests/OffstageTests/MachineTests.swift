import Foundation
@testable import Offstage
import TestKit
import Testing

/// What the machine's own files say: its name, and the interfaces that lead out of it.
struct MachineTests {
    private let root = ScratchDirectory()

    @Test func `a machine is called as its maker and its system say`() throws {
        try root.write(
            "etc/os-release",
            "# a comment\nNAME=\"Debian GNU/Linux\"\nVERSION_ID='12'\nID=debian\nHOME_URL\n"
        )
        try root.write("sys/class/dmi/id/product_name", "ThinkPad X13\n")
        let laptop = DeviceIdentity(root: root.path)
        #expect(laptop.systemName == "Debian GNU/Linux" && laptop.systemVersion == "12")
        #expect(laptop.model == "ThinkPad X13")
        try root.write("proc/device-tree/model", "Pine64 PinePhone (1.2)\0")
        #expect(DeviceIdentity(root: root.path).model == "Pine64 PinePhone (1.2)")
    }

    @Test func `a machine that says nothing is still one`() {
        let nameless = DeviceIdentity(root: root("nothing"))
        #expect(nameless.systemName == "Linux" && nameless.model == "Linux")
        #expect(nameless.systemVersion.first?.isNumber == true)
    }

    private func interface(_ name: String, _ files: [String: String]) throws {
        for (file, text) in files { try root.write("sys/class/net/\(name)/\(file)", text) }
    }

    private static let head =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    @Test func `the interfaces with a default route lead out, the preferred one first`() throws {
        try root.write(
            "proc/net/route",
            Self.head
                + "wwan0\t00000000\t0101A8C0\t0003\t0\t0\t700\t00000000\t0\t0\t0\n"
                + "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
                + "wlan0\t0001A8C0\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0\n"
                + "eth1\t0002A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
                + "torn line\n"
        )
        let (none, next) = (String(repeating: "0", count: 32), String(repeating: "f", count: 32))
        try root.write(
            "proc/net/ipv6_route",
            "\(none) 00 \(none) 00 \(next) 00000064 00000001 00000000 00000003 eth0\n"
                + "\(none) 00 \(none) 00 \(none) ffffffff 00000001 00000000 00200200 lo\n"
        )
        try interface("wlan0", ["type": "1\n", "uevent": "DEVTYPE=wlan\n", "ifindex": "3\n"])
        try interface("wwan0", ["type": "519\n", "uevent": "DEVTYPE=wwan\n", "ifindex": "4\n"])
        try interface("eth0", ["type": "1\n", "uevent": "INTERFACE=eth0\n", "device/x": ""])
        #expect(
            DefaultRoutes.interfaces(root: root.path) == [
                NWInterface(name: "eth0", type: .wiredEthernet, index: 0),
                NWInterface(name: "wlan0", type: .wifi, index: 3),
                NWInterface(name: "wwan0", type: .cellular, index: 4),
            ]
        )
    }

    @Test(
        arguments: [
            (["type": "1", "uevent": "DEVTYPE=bridge"], NWInterface.InterfaceType.other),
            (["type": "1", "uevent": ""], .other), (["type": "772", "uevent": ""], .loopback),
            (["type": "512"], .cellular), (["type": "65534"], .other), ([:], .other),
        ]
    )
    func `what is not known is another kind`(
        files: [String: String],
        type: NWInterface.InterfaceType
    ) throws {
        try root.write(
            "proc/net/route",
            Self.head + "x0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        )
        try interface("x0", files)
        #expect(DefaultRoutes.interfaces(root: root.path).map(\.type) == [type])
    }

    @Test func `a machine without routes leads nowhere`() {
        #expect(DefaultRoutes.interfaces(root: root("nothing")) == [])
    }
}
