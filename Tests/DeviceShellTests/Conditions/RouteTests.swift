import DeviceCore
@testable import DeviceShell
import EventLoop
import Linux
import TestKit
import Testing
import Vocabulary

struct RouteReadingTests {
    @Test func `routes that cannot be read any more are lost, until they are read again`() throws {
        let scratch = ScratchDirectory()
        let routes = NetworkRoutes(try EventLoop(), scratch("net")) { _ in }
        #expect(routes.read() == .silent)
        try scratch.write("net/route", "Iface\tDestination\n")
        #expect(routes.read() == .value(0))
        try Files.remove(scratch("net/route"))
        #expect(routes.read() == .lost)
        #expect(routes.hasRoute == nil)
        try scratch.write("net/route", "Iface\tDestination\n")
        #expect(routes.read() == .value(0))
    }
}

/// The daemon in a network namespace of its own: the kernel's routes as the condition `network`.
@Suite(.enabled(if: Command.runsAsRoot, "only root can make a network namespace"))
struct RouteTests {
    private func namespaceBench(_ options: [String] = []) throws -> DaemonBench {
        let bench = try DaemonBench(
            options: ["--routes", Routes.usualDirectory] + options,
            starting: false
        )
        bench.daemon.wrapper = ["unshare", "--net"]
        return bench
    }

    /// In the daemon's namespace.
    private func ip(_ bench: DaemonBench, _ words: String) throws {
        let pid = bench.daemon.identity?.pid ?? 0
        let words = words.split(separator: " ").map(String.init)
        let outcome = try Command(["nsenter", "--net", "--target", "\(pid)", "ip"] + words).run()
        guard outcome.succeeded else { throw DidNotHappen(description: outcome.errors) }
    }

    private func wait(_ bench: DaemonBench, _ value: String) throws {
        try bench.wait(until: "network \(value)") {
            try bench.condition("network")["value"] == .string(value)
        }
    }

    private func plug(_ bench: DaemonBench) throws {
        try ip(bench, "link add here type veth peer name there")
        try ip(bench, "addr add 192.0.2.1/24 dev here")
        try ip(bench, "link set there up")
        try ip(bench, "link set here up")
    }

    @Test func `a route that leads everywhere is a network, while its interface has a carrier`()
        throws
    {
        let bench = try namespaceBench()
        try bench.daemon.start()
        #expect(try bench.condition("network")["value"] == "off")
        #expect(try bench.condition("network")["source"] == "the kernel")
        try plug(bench)
        #expect(try bench.condition("network")["value"] == "off")
        try ip(bench, "route add default via 192.0.2.2")
        try wait(bench, "on")
        // The cable is pulled out: the route stays, and leads nowhere.
        try ip(bench, "link set there down")
        try wait(bench, "off")
        try ip(bench, "link set there up")
        try wait(bench, "on")
        try ip(bench, "route del default")
        try wait(bench, "off")
        try ip(bench, "-6 route add default dev here")
        try wait(bench, "on")
    }

    @Test func `NetworkManager without a device does not hide the network of others`() throws {
        let bench = try namespaceBench()
        let bus = try MessageBus(bench.daemon.scratch, "system")
        bench.daemon.options += ["--system-bus", bus.address]
        let (path, name) = (NetworkManager.service.path, NetworkManager.service.interface)
        try bus.mock(name, path, name)
        try bus.add(path, of: name, main: path, name, ["State": 20, "Connectivity": 1])
        try bench.daemon.start()
        try bench.wait(until: "NetworkManager is heard") {
            try bench.condition("network")["source"] == "NetworkManager"
        }
        try plug(bench)
        try ip(bench, "route add default via 192.0.2.2")
        try wait(bench, "on")
        #expect(try bench.condition("network")["source"] == "the kernel")
        try ip(bench, "route del default")
        try wait(bench, "off")
    }
}
