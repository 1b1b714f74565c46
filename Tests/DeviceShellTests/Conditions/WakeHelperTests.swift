import AppProtocol
@testable import DeviceShell
import EventLoop
import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// After an own wake: what of logind's word keeps the machine awake.
struct WakeHelperTests {
    private static let resumed = AwakeTime(nanoseconds: 0) + .seconds(100)

    private static func hint(_ isIdle: Bool, since seconds: Int64? = nil) -> ValueMap {
        var map: ValueMap = ["IdleHint": .bool(isIdle)]
        if let seconds { map["IdleSinceHintMonotonic"] = .integer(seconds * 1_000_000) }
        return map
    }

    @Test(
        arguments: [
            (["LidClosed": true], ["LidClosed": false], "its lid was opened"),
            (["LidClosed": true], ["LidClosed": true], nil),
            (["LidClosed": false], ["LidClosed": false], nil),
            ([:], ["LidClosed": false], nil),
            (hint(true), hint(false), "somebody uses it"),
            (hint(true), hint(false, since: 104), "somebody uses it"),
            // The desktop takes the return from sleep for input.
            (hint(true), hint(false, since: 102), nil),
            (hint(true), hint(true), nil), (hint(false), hint(false), nil),
            ([:], hint(false), nil),
        ] as [(ValueMap, ValueMap, String?)]
    )
    func `an opened lid and somebody at the lock screen do`(
        before: ValueMap,
        now: ValueMap,
        reason: String?
    ) {
        let signs = WakeHelper.Signs(before)
        #expect(signs.reason(toStayAwake: now, since: Self.resumed) == reason)
    }

    private func row(_ what: Value, mode: Value = "block", pid: Int64 = 1) -> Value {
        [what, "player", "plays", mode, 1000, .integer(pid)]
    }

    @Test func `an inhibitor does that forbids sleep or idleness`() {
        #expect(WakeHelper.Inhibition(row("shutdown:sleep"))?.what == "sleep")
        #expect(WakeHelper.Inhibition(row("idle", mode: "block-weak"))?.what == "idle")
        #expect(WakeHelper.Inhibition(row("handle-lid-switch")) == nil)
        #expect(WakeHelper.Inhibition(row("sleep", mode: "delay")) == nil)
        #expect(WakeHelper.Inhibition(row("idle"))?.isOurs == false)
        let own = Int64(CurrentProcess.pid)
        #expect(WakeHelper.Inhibition(row("idle", pid: own))?.isOurs == true)
    }

    /// logind goes on listing it for a moment, and then the machine is not idle either.
    @Test func `our own inhibitor, which is gone, does not`() throws {
        let machine = try Machine()
        // That of the wake, and the first after it. The second finds it gone: were it taken away
        // from here, all questions might have been asked by then.
        try machine.inhibit(
            "['idle', 'Offstage', 'work', 'block', 0, \(CurrentProcess.pid)]",
            forQuestions: 2
        )
        try machine.wake()
        machine.helper.sleepAgain()
        try machine.run { $0.helper.hasAnswered }
        #expect(machine.questions > 2)
        #expect(machine.wasSentBack)
    }

    @Test func `a program that inhibited sleep for a while since the wake does`() throws {
        let machine = try Machine()
        try machine.wake()
        try machine.inhibit("['sleep', 'Backup', 'copies', 'block', 1000, 1]")
        try machine.run { $0.questions > 1 }
        try machine.inhibit("")
        machine.helper.sleepAgain()
        try machine.settle()
        #expect(!machine.wasSentBack)
    }

    @Test func `a lid that was opened and closed since the wake does`() throws {
        let machine = try Machine()
        try machine.wake()
        try machine.moveLid(isClosed: false)
        try machine.moveLid(isClosed: true)
        machine.helper.sleepAgain()
        try machine.settle()
        #expect(!machine.wasSentBack)
        // Not for the wake after that.
        machine.helper.prepare(wakingAt: nil, isNeeded: false) {}
        try machine.wake()
        machine.helper.sleepAgain()
        try machine.run { $0.helper.hasAnswered }
        #expect(machine.wasSentBack)
    }

    @Test func `a message bus that was away since the wake does`() throws {
        let machine = try Machine()
        machine.helper.sleepAgain()
        try machine.settle()
        #expect(!machine.wasSentBack)
    }
}

/// The daemon's side of a machine that wakes, on a message bus of its own: logind and UPower are
/// played by python-dbusmock.
private final class Machine {
    let helper: WakeHelper
    private let scratch = ScratchDirectory()
    private let bus: MessageBus
    private let loop: EventLoop
    private let systemBus: ServiceBus
    private let connection = Connection()
    private let (logind, upower) = (ServiceRow.logind.name, ServiceRow.upower.name)

    init() throws {
        bus = try MessageBus(scratch, "system")
        loop = try EventLoop()
        let manager = Logind.manager
        try bus.mock(logind, manager.path, manager.interface)
        try bus.addMethod(
            "ListInhibitors",
            of: logind,
            at: manager.path,
            takes: "",
            gives: "a(ssssuu)",
            """
            open('\(scratch("questions"))', 'a').write('x')
            asked = len(open('\(scratch("questions"))').read())
            lasting = asked <= int(open('\(scratch("lasting"))').read())
            rows = eval('[' + open('\(scratch("inhibitors"))').read() + ']') if lasting else []
            ret = dbus.Array([dbus.Struct(row[:4] + [dbus.UInt32(row[4]), dbus.UInt32(row[5])])
                for row in rows], signature='(ssssuu)')
            """
        )
        let properties: ValueMap = ["BlockInhibited": ""]
        try bus.add(manager.path, of: logind, main: manager.path, manager.interface, properties)
        let service = UPower.service
        try bus.mock(upower, service.path, service.interface)
        try bus.add(
            service.path,
            of: upower,
            main: service.path,
            service.interface,
            ["LidIsClosed": true]
        )
        try bus.mock(Wake1.busName, Wake1.path, Wake1.busName)
        try bus.addMethod(
            Wake1.sleepAgain.name,
            of: Wake1.busName,
            at: Wake1.path,
            takes: "",
            gives: "",
            "open('\(scratch("asked"))', 'w').write('again')"
        )
        try scratch.write("inhibitors", "")
        try scratch.write("lasting", "\(Int32.max)")
        systemBus = ServiceBus.system(loop, .at(address: bus.address))
        helper = WakeHelper(systemBus)
        systemBus.add(connection)
        systemBus.connect()
        // It knows who has which name.
        try settle()
    }

    var wasSentBack: Bool { Files.exists(scratch("asked")) }

    /// How often logind was asked who inhibits.
    var questions: Int { (try? Files.text(scratch("questions")))?.count ?? 0 }

    /// Awake again: logind has been asked, and its answer has come.
    func wake() throws {
        let before = questions
        helper.resumed()
        try run { $0.questions > before }
        try settle()
    }

    /// `row`: who inhibits, as a list of Python's; empty: nobody. `questions`: then it is gone,
    /// counted from the first of all.
    func inhibit(_ row: String, forQuestions questions: Int = Int(Int32.max)) throws {
        try scratch.write("inhibitors", row)
        try scratch.write("lasting", "\(questions)")
        let manager = Logind.manager
        let value: Value = row.isEmpty ? "" : "sleep"
        try bus.change(manager.path, of: logind, manager.interface, ["BlockInhibited": value])
    }

    func moveLid(isClosed: Bool) throws {
        let service = UPower.service
        let value = Value.bool(isClosed)
        try bus.change(service.path, of: upower, service.interface, ["LidIsClosed": value])
    }

    /// The daemon's side goes on until that is so.
    func run(until isSo: (Machine) -> Bool) throws {
        var isOver = false
        let limit = try TimerSource(loop) { isOver = true }
        try limit.arm(at: Clocks.boot() + .milliseconds(Int64(Wait.limitMilliseconds)))
        while !isSo(self) {
            guard !isOver, try loop.runTurn() else {
                throw DidNotHappen(description: "the daemon's side has done that")
            }
        }
    }

    /// What the services have sent it has come, and they have answered what it asks for that.
    func settle() throws {
        for _ in 0..<4 {
            for name in [logind, upower, Wake1.busName] {
                var isAnswered = false
                try connection.bus?.call(Target(name, "/", "org.freedesktop.DBus.Peer", "Ping")) {
                    _ in isAnswered = true
                }
                try run { _ in isAnswered }
            }
        }
    }

    /// The daemon's side's own.
    private final class Connection: ServiceBus.Client {
        var bus: Bus?
        func connected(_ bus: Bus) { self.bus = bus }
        func disconnected() { bus = nil }
    }
}
