import EventLoop
import GatewayCore
import GatewayShell
import Linux
import SQLite
import TestKit
import Testing
import Vocabulary

/// A store that takes nothing, and does again.
struct StoreFailureTests {
    private func health(_ gateway: ScratchGateway) throws -> String {
        let socket = try UnixSocket.connect(to: gateway.paths.control)
        try socket.writeAll("GET /health HTTP/1.0\r\n\r\n")
        return String(decoding: try socket.readAll(limit: 4096), as: UTF8.self)
    }

    @Test func `a store that cannot write is seen from outside until it can`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        try gateway.start()
        func push() throws -> Outcome { try gateway.push(to: token, body: "{}") }
        let database = try Database(path: gateway.paths.store, mode: .create)
        #expect(try health(gateway).hasSuffix(#"{"status":"serving"}"#))
        try database.execute("ALTER TABLE log RENAME TO away")
        #expect(try push() == Outcome(503, "ServiceUnavailable"))
        let ill = try health(gateway)
        #expect(ill.hasPrefix("HTTP/1.0 503") && ill.contains("no such table"), "\(ill)")
        #expect(try push() == Outcome(503, "ServiceUnavailable"))
        try database.execute("ALTER TABLE away RENAME TO log")
        let answer = try push()
        #expect(answer == Outcome(200))
        let well = try health(gateway)
        #expect(well.hasSuffix(#"{"status":"serving"}"#), "\(well)")
        let log = try Files.text(gateway.directory("log1"))
        #expect(log.contains("nothing can be stored") && log.contains("no such table"))
        #expect(log.contains("stored again"))
    }

    /// Of a device that nobody knows.
    private func writeSomething(_ node: GatewayNode) {
        node.identify([UInt8](repeating: 9, count: 32)) { _ in }
        node.settle()
    }

    @Test func `a file that cannot be opened at first is opened later`() throws {
        let (directory, disk) = (ScratchDirectory(), FaultyDisk())
        let node = try ScratchNode.node(directory, disk, GatewayLimits())
        disk.fail(.open, nth: 1, with: .cannotOpen, forever: true)
        for _ in 0..<2 {
            writeSomething(node)
            #expect(node.driver.storeProblem?.contains("open") == true)
        }
        disk.heal()
        writeSomething(node)
        #expect(node.driver.storeProblem == nil)
    }

    @Test func `who registers meanwhile is to ask again, and the app keeps its name`() throws {
        let world = try ScratchNode()
        world.disk.fail(nth: 1, with: .full, forever: true)
        world.register("org.example.One")
        #expect(world.links.refusals == [.unavailable])
        #expect(world.node.driver.storeProblem?.contains("full") == true)
        writeSomething(world.node)
        #expect(world.node.driver.storeProblem != nil)
        world.disk.heal()
        writeSomething(world.node)
        #expect(world.node.driver.storeProblem == nil)
        world.register("org.example.One")
        #expect(world.links.tokens.count == 1)
        #expect(try world.apps() == ["1 org.example.One"])
    }

    @Test func `a store that cannot be read either is asked again until it can`() throws {
        let world = try ScratchNode()
        world.register("a")
        let database = try Database(path: world.directory("gateway.db"), mode: .create)
        try database.execute("ALTER TABLE apps RENAME TO away")
        var problems: [OperationProblem?] = []
        func remove() {
            world.node.removeApp("a") { problems.append($0) }
            world.node.settle()
        }
        remove()
        // Nobody knows whether it is there; who comes meanwhile is told at once to come again.
        #expect(!world.node.isSettled)
        remove()
        #expect(problems == [.notKept, .notKept])
        try database.execute("ALTER TABLE away RENAME TO apps")
        // Nothing happens but the alarm.
        world.node.endTurn()
        while !world.node.isSettled {
            _ = try world.node.loop.runTurn(once: true)
            world.node.endTurn()
        }
        world.register("a")
        #expect(world.links.tokens.count == 2)
        remove()
        #expect(problems == [.notKept, .notKept, nil])
        #expect(try world.apps() == [])
    }

    // MARK: Which apps

    @Test func `devices make known what is allowed, what keys name, and little else`() throws {
        var limits = GatewayLimits()
        (limits.newApps, limits.newAppRefill) = (2, .hours(1))
        let world = try ScratchNode(limits)
        for app in ["a", "b", "c", "a"] { world.register(app) }
        #expect(world.links.tokens.count == 3)
        #expect(world.links.refusals == [.unavailable])
        world.node.useApps(allowed: nil, named: ["named"])
        world.register("named")
        #expect(world.links.tokens.count == 4)
        world.node.useApps(allowed: ["only"], named: ["named"])
        for app in ["only", "a", "d"] { world.register(app) }
        #expect(world.links.tokens.count == 5)
        #expect(world.links.refusals == [.unavailable, .unknown, .unknown])
    }

    @Test func `apps that nobody uses make room, and their numbers are nobody's`() throws {
        var limits = GatewayLimits()
        limits.apps = 4
        let world = try ScratchNode(limits)
        world.node.useApps(allowed: nil, named: ["named"])
        for app in ["used", "named", "idle", "last"] { world.register(app) }
        for app in ["named", "idle", "last"] { world.unregister(app) }
        world.register("more")
        #expect(world.links.refusals == [.unavailable])
        world.node.sweep()
        world.node.settle()
        #expect(try world.apps() == ["1 used", "2 named"])
        world.register("more")
        #expect(try world.apps() == ["1 used", "2 named", "5 more"])
        world.unregister("more")
        world.node.removeApp("more") { #expect($0 == nil) }
        world.node.settle()
        let next = try ScratchNode.node(world.directory, world.disk, limits)
        next.links = world.links
        next.identify([UInt8](repeating: 1, count: 32)) { who in
            next.connected(who?.device ?? DeviceID(0), LinkID(2), DeviceCondition())
        }
        next.register("later", renewing: false, over: LinkID(2))
        next.settle()
        #expect(try world.apps() == ["1 used", "2 named", "6 later"])
    }

    @Test func `an app that the operator removes is gone with its tokens`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let device = try ScratchDevice(gateway)
        let token = try device.token()
        func push() throws -> Outcome { try gateway.push(to: token, body: "{}") }
        #expect(try push() == Outcome(200))
        #expect(try gateway.run("topics", "remove", ScratchGateway.topic).succeeded)
        #expect(try push() == Outcome(400, "DeviceTokenNotForTopic"))
        #expect(try !gateway.run("topics", "remove", ScratchGateway.topic).succeeded)
        try device.end()
        let again = try ScratchDevice(gateway)
        #expect(try again.token() != token)
        #expect(try gateway.run("topics").output.contains("\(ScratchGateway.topic)  -     yes\n"))
        try again.end()
    }

    @Test func `a device is told of an app that is not allowed here`() throws {
        let gateway = try ScratchGateway(settings: "apps = org.example.Other\n")
        try gateway.start()
        let device = try ScratchDevice(gateway)
        try device.wait(for: "\(ScratchGateway.topic): nobody sends to it through this gateway")
        try device.end()
    }
}
