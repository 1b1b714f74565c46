import EventLoop
import GatewayCore
import GatewayShell
import Linux
import SQLite
import TestKit
import Testing
import Vocabulary

/// What is said to be gone is gone, also after the next start; what could not be removed is there.
struct RemovalTests {
    private func push(_ gateway: ScratchGateway, _ token: String) throws -> Outcome {
        Outcome(
            try gateway.client.send(
                "POST",
                "/3/device/" + token,
                [("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer())],
                body: Array(#"{"aps":{"alert":"x"}}"#.utf8)
            )
        )
    }

    private func devices(_ gateway: ScratchGateway) throws -> [Int64] {
        try ValueJSON.parse(try gateway.run("devices", "--json").output).listValue?
            .compactMap { $0["device"]?.integerValue } ?? []
    }

    // MARK: devices remove

    @Test func `a device that was removed while connected comes back with new tokens`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let device = try ScratchDevice(gateway)
        let old = try device.token()
        let number = try #require(try devices(gateway).first)
        #expect(try gateway.run("devices", "remove", "\(number)").succeeded)
        #expect(try push(gateway, old) == Outcome(410, "Unregistered"))
        try device.wait(for: "removed the device")
        let new = try device.token(number: 2)
        #expect(try push(gateway, new) == Outcome(200))
        #expect(try !devices(gateway).contains(number))
        // What was given out stays dead, and its number is nobody's.
        gateway.kill()
        try gateway.start()
        #expect(try push(gateway, old) == Outcome(410, "Unregistered"))
        try device.end()
    }

    @Test func `a number that no device has is said to be none`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        for words in [["devices", "remove", "4711"], ["topics", "remove", "org.example.No"]] {
            let outcome = try gateway.run(words[0], words[1], words[2])
            #expect(!outcome.succeeded)
            #expect(outcome.errors.contains("no device"), "\(outcome.errors)")
        }
    }

    @Test(arguments: ["devices", "topics"])
    func `what the store cannot remove is still there, and the command fails`(kind: String) throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let device = try ScratchDevice(gateway)
        let token = try device.token()
        let number = try #require(try devices(gateway).first)
        let database = try Database(path: gateway.paths.store, mode: .create)
        let table = kind == "devices" ? "devices" : "apps"
        try database.execute("ALTER TABLE \(table) RENAME TO away")
        let what = kind == "devices" ? "\(number)" : ScratchGateway.topic
        let outcome = try gateway.run(kind, "remove", what)
        #expect(!outcome.succeeded, "\(outcome.output)")
        #expect(outcome.errors.contains("was removed") || kind == "devices", "\(outcome.errors)")
        try database.execute("ALTER TABLE away RENAME TO \(table)")
        #expect(try push(gateway, token) == Outcome(200))
        #expect(try devices(gateway) == [number])
        try device.end()
    }

    /// It was the newest: its row stays, so that no other gets its number.
    @Test func `the record of a removed device says that there is none`() throws {
        let world = try ScratchNode()
        let path = world.directory("gateway.db")
        #expect(try StoreReader(path).record(of: DeviceID(1)).isKnown)
        world.node.remove(DeviceID(1)) { #expect($0 == nil) }
        world.node.settle()
        let reader = try StoreReader(path)
        #expect(try !reader.record(of: DeviceID(1)).isKnown)
        #expect(try reader.largestNumbers().device == 1)
    }

    // MARK: Unregistering

    private func registered() throws -> ScratchNode {
        let world = try ScratchNode()
        world.register("a")
        world.links.told = []
        return world
    }

    private func isActive(_ world: ScratchNode) throws -> Bool {
        let reader = try StoreReader(world.directory("gateway.db"))
        return try reader.record(of: DeviceID(1)).registrations.contains { $0.isActive }
    }

    @Test func `a device is told that it is unregistered when that is on the disk`() throws {
        let world = try registered()
        world.node.unregister("a", over: LinkID(1))
        #expect(world.links.told.isEmpty)
        world.node.settle()
        #expect(world.links.told == ["unregistered a"])
        #expect(try !isActive(world))
    }

    @Test func `on a full disk it is told that it is not, and may ask again`() throws {
        let world = try registered()
        world.disk.fail(nth: 1, with: .full, forever: true)
        world.node.unregister("a", over: LinkID(1))
        world.node.settle()
        #expect(world.links.told == ["refused a"])
        world.disk.heal()
        world.node.unregister("a", over: LinkID(1))
        world.node.settle()
        #expect(world.links.told == ["refused a", "unregistered a"])
        #expect(try !isActive(world))
    }

    @Test func `what rests on a batch that failed fails with it`() throws {
        let world = try registered()
        world.disk.fail(nth: 1, with: .full, forever: true)
        world.node.unregister("a", over: LinkID(1))
        world.node.endTurn()
        // The first is on its way to the disk: this one has nothing of its own to write.
        world.node.unregister("a", over: LinkID(1))
        world.node.settle()
        #expect(world.links.told == ["refused a", "refused a"])
    }
}
