import AppProtocol
import EventLoop
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

@testable import WakeShell

/// What the helper asks of logind for a user whose alarm has just woken the machine.
/// (python-dbusmock plays logind and polkit.)
final class WakeServiceTests {
    private let scratch = ScratchDirectory()
    private let bus: MessageBus
    private static let logind = "org.freedesktop.login1"
    private static let manager = "/org/freedesktop/login1"
    private static let polkit = "org.freedesktop.PolicyKit1"
    private static let authority = "/org/freedesktop/PolicyKit1/Authority"

    init() throws {
        bus = try MessageBus(scratch, "system")
        try bus.mock(Self.logind, Self.manager, Self.logind + ".Manager")
        try bus.addMethod(
            "SuspendWithFlags",
            of: Self.logind,
            at: Self.manager,
            takes: "t",
            gives: "",
            "open('\(scratch("asked"))', 'a').write(str(args[0]))"
        )
        try bus.mock(Self.polkit, Self.authority, Self.polkit + ".Authority")
        try bus.addMethod(
            "CheckAuthorization",
            of: Self.polkit,
            at: Self.authority,
            takes: "(sa{sv})sa{ss}us",
            gives: "(bba{ss})",
            "ret = dbus.Struct((True, False, dbus.Dictionary({}, signature='ss')))"
        )
    }

    private func inhibit(_ what: String) throws {
        try bus.add(
            Self.manager,
            of: Self.logind,
            main: Self.manager,
            Self.logind + ".Manager",
            ValueMap([("BlockInhibited", .string(what))])
        )
    }

    /// An alarm of this user rang a moment ago, after an hour of sleep.
    private static func woken() throws -> WakeLedger {
        let now = Clocks.now()
        var before = now
        before.boot = before.boot - .hours(1)
        var ledger = WakeLedger()
        try ledger.set(CurrentProcess.user, at: now.boot, now: before)
        ledger.rang(at: now)
        return ledger
    }

    private func sleepAgain() throws -> Result<[Value], BusError> {
        let loop = try EventLoop()
        let own = try Bus.messageBus(at: bus.address)
        try own.attach(to: loop)
        let service = try WakeService(loop, own, Self.woken())
        try service.serve()
        let caller = try Bus.messageBus(at: bus.address)
        try caller.attach(to: loop)
        // Its calls are answered by the bus in order: it has its name then.
        var isNamed = false
        try own.call(.messageBus("GetId")) { _ in isNamed = true }
        while !isNamed, try loop.runTurn() {}
        var answer: Result<[Value], BusError>?
        try caller.call(Target(Wake1.busName, Wake1.path, Wake1.busName, Wake1.sleepAgain.name)) {
            answer = $0
        }
        while answer == nil, try loop.runTurn() {}
        return try #require(answer)
    }

    /// Its unique one, by way of another.
    private static func name(of caller: Bus) throws -> String {
        let name = Value.string("org.offstage.Caller")
        _ = try caller.call(.messageBus("RequestName"), [name, .integer(0)], signature: "su")
        let owner = try caller.call(.messageBus("GetNameOwner"), [name], signature: "s")
        return try #require(owner.first?.stringValue)
    }

    @Test func `it ends when the last who had an alarm has gone`() throws {
        let loop = try EventLoop()
        let own = try Bus.messageBus(at: bus.address)
        try own.attach(to: loop)
        let caller = try Bus.messageBus(at: bus.address)
        let now = Clocks.now()
        var ledger = WakeLedger()
        try ledger.set(CurrentProcess.user, at: now.boot + .hours(1), now: now)
        let service = try WakeService(
            loop,
            own,
            ledger,
            owners: [CurrentProcess.user: try Self.name(of: caller)],
            linger: .milliseconds(1)
        )
        try service.serve()
        var (isOver, hasLingered) = (false, false)
        let limit = try TimerSource(loop) { isOver = true }
        try limit.arm(at: Clocks.boot() + .milliseconds(Int64(Wait.limitMilliseconds)))
        // With an alarm it stays, also when its time without one is over.
        let lingering = try TimerSource(loop) { hasLingered = true }
        try lingering.arm(at: Clocks.boot() + .milliseconds(50))
        while !hasLingered { #expect(try loop.runTurn()) }
        caller.close()
        while !isOver, try loop.runTurn() {}
        #expect(!isOver && !service.isLost)
    }

    @Test func `who was switched away from the screen may not suspend the machine`() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
            .joined(separator: "/")
        let policy = try Files.text(root + "/share/polkit-1/org.offstage.wake1.policy")
        let actions = policy.split(separator: "<action ")
        let action = try #require(actions.first { $0.contains(Wake1.sleepAction) })
        #expect(action.contains("<allow_inactive>no</allow_inactive>"))
        #expect(action.contains("<allow_active>yes</allow_active>"))
    }

    private var asked: String? { try? Files.text(scratch("asked")) }

    @Test func `the machine is suspended, unless a program inhibits that`() throws {
        try inhibit("shutdown:idle")
        _ = try sleepAgain().get()
        #expect(asked == "1")
    }

    @Test func `while a program inhibits sleep, logind is not asked`() throws {
        // logind would do it for root, if the program is root's.
        try inhibit("shutdown:sleep")
        guard case .failure(let error) = try sleepAgain() else {
            Issue.record("the machine was suspended")
            return
        }
        #expect(error.message == "a program inhibits sleep")
        #expect(asked == nil)
    }
}
