@testable import DeviceShell
import EventLoop
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// A service that is followed for months.
struct FollowerTests {
    @Test func `sessions that are over are forgotten`() throws {
        let bus = try MessageBus(ScratchDirectory(), "system")
        let (main, name) = (Logind.manager.path, ServiceRow.logind.name)
        let user = Logind.user(CurrentProcess.user)
        let session = ServiceObject(
            path: main + "/session/_31",
            interface: "org.freedesktop.login1.Session"
        )
        try bus.mock(name, main, Logind.manager.interface)
        try bus.add(session.path, of: name, main: main, session.interface, ["Class": "user"])
        let open = Value.list([.list([.string("31"), .string(session.path)])])
        try bus.add(user.path, of: name, main: main, user.interface, ["Sessions": open])
        let loop = try EventLoop()
        let connection = try Bus.messageBus(at: bus.address)
        try connection.attach(to: loop)
        let context = ServiceContext(user: CurrentProcess.user)
        let follower = try ServiceFollower(.logind, on: connection, context: { context }) {}
        var isOver = false
        let limit = try TimerSource(loop) { isOver = true }
        try limit.arm(at: Clocks.boot() + .milliseconds(Int64(Wait.limitMilliseconds)))
        while !isOver, follower.objects[session] == nil, try loop.runTurn() {}
        let known = follower.objects.count
        try bus.change(user.path, of: name, user.interface, ["Sessions": .list([])])
        while !isOver, follower.objects.count == known, try loop.runTurn() {}
        #expect(!isOver)
        #expect(follower.objects[session] == nil)
        #expect(follower.objects[user] != nil)
    }
}
