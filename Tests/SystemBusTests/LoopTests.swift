import EventLoop
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// A connection that a loop drives.
struct LoopTests {
    let server: EchoServer
    let loop: EventLoop

    init() throws {
        server = try EchoServer()
        loop = try EventLoop()
    }

    func connect() throws -> Bus {
        let bus = try Bus.connect(toSocket: server.socket)
        try bus.attach(to: loop)
        return bus
    }

    /// Turns the loop until `isDone`, or a minute is over.
    func turn(_ what: String, until isDone: () -> Bool) throws {
        var isOver = false
        let limit = try TimerSource(loop) { isOver = true }
        try limit.arm(at: Clocks.boot() + .minutes(1))
        while !isDone() {
            _ = try loop.runTurn()
            try #require(!isOver, "\(what) did not happen")
        }
    }

    @Test func callsAndSignalsArriveByTheLoop() throws {
        let bus = try connect()
        var heard: [[Value]] = []
        let subscription = try bus.onSignal("Shouted", of: EchoServer.interface.name) {
            heard.append($0.arguments)
        }
        var answers = 0
        for _ in 0..<100 {
            try bus.call(BusTests.target("Shout"), ["x"], signature: "s") { _ in answers += 1 }
        }
        try turn("answers") { answers == 100 && heard.count == 100 }
        withExtendedLifetime(subscription) {}
    }

    @Test func aConnectionMayBeDroppedInItsOwnCallbacks() throws {
        var bus: Bus? = try connect()
        try bus?.call(BusTests.target("Echo"), [1], signature: "v") { _ in bus = nil }
        try turn("answer") { bus == nil }
        try server.await("ended 1")

        bus = try connect()
        var subscription = try bus?.onSignal("Shouted", of: EchoServer.interface.name) { _ in
            bus = nil
        }
        try bus?.call(BusTests.target("Shout"), ["x"], signature: "s") { _ in }
        try turn("signal") { bus == nil }
        #expect(subscription != nil)
        subscription = nil
        try server.await("ended 2")

        bus = try connect()
        var told = false
        try bus?.onDisconnect {
            told = true
            bus = nil
        }
        try bus?.call(BusTests.target("Close")) { _ in }
        try turn("disconnection") { told }
    }

    @Test func aSubscriptionMayOutliveItsConnection() throws {
        var bus: Bus? = try connect()
        let subscription = try bus?.onSignal("Shouted", of: EchoServer.interface.name) { _ in }
        bus = nil
        try server.await("ended 1")
        withExtendedLifetime(subscription) {}
    }

    @Test func aDroppedConnectionAnswersNobody() throws {
        var bus: Bus? = try connect()
        final class Witness {}
        weak var seen: Witness?
        do {
            let witness = Witness()
            seen = witness
            try bus?.call(BusTests.target("Later"), ["x"], signature: "s") { _ in
                withExtendedLifetime(witness) {}
            }
        }
        #expect(seen != nil)
        bus = nil
        try turn("release") { seen == nil }
    }
}
