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
        let scratch = ScratchDirectory()
        let bus = try MessageBus(scratch, "system")
        let (name, manager) = (ServiceRow.logind.name, Logind.manager)
        try bus.mock(name, manager.path, manager.interface)
        try bus.addMethod(
            "ListInhibitors",
            of: name,
            at: manager.path,
            takes: "",
            gives: "a(ssssuu)",
            """
            with open('\(scratch("lists"))', 'a+') as lists:
                lists.write('x')
                lists.seek(0)
                count = len(lists.read())
            ret = dbus.Array([] if count > 2 else [dbus.Struct(('idle', 'Offstage', 'work',
                'block', dbus.UInt32(0), dbus.UInt32(\(CurrentProcess.pid))))],
                signature='(ssssuu)')
            """
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
        let loop = try EventLoop()
        let systemBus = ServiceBus.system(loop, .at(address: bus.address))
        let helper = WakeHelper(systemBus)
        systemBus.connect()
        helper.sleepAgain()
        var isOver = false
        let limit = try TimerSource(loop) { isOver = true }
        try limit.arm(at: Clocks.boot() + .milliseconds(Int64(Wait.limitMilliseconds)))
        while !isOver, !helper.hasAnswered, try loop.runTurn() {}
        #expect(try Files.text(scratch("asked")) == "again")
        #expect(try Files.text(scratch("lists")) == "xxx")
    }
}
