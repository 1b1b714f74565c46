import Testing
import Vocabulary
import WakeShell

/// Who may wake the machine and send it back to sleep.
struct WakeLedgerTests {
    /// A machine with time in the test's hands.
    private struct Machine {
        var ledger = WakeLedger()
        var now = Moment(
            boot: BootTime(nanoseconds: 0) + .hours(1),
            awake: AwakeTime(nanoseconds: 0) + .hours(1),
            wall: WallTime(nanoseconds: 0),
            utcOffset: 0
        )

        mutating func pass(_ time: Interval) {
            now.boot = now.boot + time
            now.awake = now.awake + time
        }

        mutating func sleep(_ time: Interval) { now.boot = now.boot + time }

        mutating func set(_ user: UInt32 = 1000, in time: Interval) throws(WakeRefusal) {
            try ledger.set(user, at: now.boot + time, now: now)
        }

        mutating func rings() { ledger.rang(at: now) }

        mutating func wakes() { ledger.isAwake(at: now) }

        mutating func sleepAgain(_ user: UInt32 = 1000) -> WakeRefusal? {
            do throws(WakeRefusal) {
                try ledger.sleepAgain(user, now: now)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func `who was woken by an own alarm may send it back to sleep, once`() throws {
        var machine = Machine()
        try machine.set(in: .hours(2))
        machine.pass(.seconds(5))
        machine.sleep(.hours(2))
        machine.rings()
        #expect(machine.ledger.next == nil)
        let other = machine.sleepAgain(1001)
        #expect(other == .notWoken)
        let first = machine.sleepAgain()
        #expect(first == nil)
        let second = machine.sleepAgain()
        #expect(second == .notWoken)
        #expect(machine.ledger.isIdle(at: machine.now))
    }

    @Test func `an alarm that did not wake it allows nothing`() throws {
        // It was awake all the time.
        var machine = Machine()
        try machine.set(in: .hours(2))
        machine.pass(.hours(2))
        machine.rings()
        let awake = machine.sleepAgain()
        #expect(awake == .notWoken)
        // It slept, and somebody woke it later: it cannot be woken by this clock.
        try machine.set(in: .hours(2))
        machine.sleep(.hours(3))
        machine.rings()
        let late = machine.sleepAgain()
        #expect(late == .notWoken)
        // It has not rung.
        try machine.set(in: .hours(2))
        machine.sleep(.hours(1))
        machine.rings()
        let early = machine.sleepAgain()
        #expect(early == .notWoken)
        #expect(machine.ledger.next != nil)
    }

    @Test func `an alarm that rings moments after somebody woke it allows nothing`() throws {
        var machine = Machine()
        try machine.set(in: .hours(2))
        machine.sleep(.hours(2) - .seconds(5))
        machine.wakes()
        machine.pass(.seconds(5))
        machine.rings()
        let after = machine.sleepAgain()
        #expect(after == .notWoken)
        // It sleeps on, and the alarm wakes it: a real-time clock may be ahead by a second.
        try machine.set(in: .hours(2))
        machine.sleep(.hours(1))
        machine.wakes()
        machine.pass(.seconds(5))
        machine.sleep(.hours(1) - .seconds(5) - .milliseconds(900))
        machine.wakes()
        machine.pass(.milliseconds(900))
        machine.rings()
        let own = machine.sleepAgain()
        #expect(own == nil)
    }

    @Test func `what a wake allows ends after half an hour, and with the next alarm`() throws {
        var machine = Machine()
        try machine.set(in: .hours(2))
        machine.sleep(.hours(2))
        machine.rings()
        #expect(!machine.ledger.isIdle(at: machine.now))
        machine.pass(.minutes(30) + .seconds(1))
        #expect(machine.ledger.isIdle(at: machine.now))
        let late = machine.sleepAgain()
        #expect(late == .notWoken)
        try machine.set(in: .hours(2))
        machine.sleep(.hours(2))
        machine.rings()
        try machine.set(in: .hours(2))
        let renewed = machine.sleepAgain()
        #expect(renewed == .notWoken)
    }

    @Test func `what a wake allows ends when the machine sleeps for another reason`() throws {
        var machine = Machine()
        try machine.set(1000, in: .hours(2))
        try machine.set(1001, in: .hours(3))
        machine.sleep(.hours(2))
        machine.rings()
        // Its user closes the lid. The other user's alarm wakes it.
        machine.pass(.seconds(5))
        machine.sleep(.hours(1) - .seconds(5))
        machine.rings()
        let first = machine.sleepAgain(1000)
        #expect(first == .notWoken)
        let second = machine.sleepAgain(1001)
        #expect(second == nil)
        // Or the user opens the lid again, at once.
        try machine.set(in: .hours(2))
        machine.sleep(.hours(2))
        machine.rings()
        machine.sleep(.milliseconds(300))
        #expect(machine.ledger.isIdle(at: machine.now))
        let third = machine.sleepAgain()
        #expect(third == .notWoken)
    }

    @Test func `each user has one alarm, and the earliest counts`() throws {
        var machine = Machine()
        let start = machine.now.boot
        try machine.set(1000, in: .hours(3))
        try machine.set(1001, in: .hours(2))
        #expect(machine.ledger.next == start + .hours(2))
        try machine.set(1001, in: .hours(5))
        #expect(machine.ledger.next == start + .hours(3))
        machine.ledger.clear(1000)
        #expect(machine.ledger.next == start + .hours(5))
        machine.sleep(.hours(5))
        machine.rings()
        let cleared = machine.sleepAgain(1000)
        #expect(cleared == .notWoken)
    }

    @Test func `what nobody needs is refused`() throws {
        var machine = Machine()
        #expect(throws: WakeRefusal.inThePast) { try machine.set(in: .zero) }
        #expect(throws: WakeRefusal.tooFar) { try machine.set(in: .days(32)) }
        for user in 1...64 as ClosedRange<UInt32> { try machine.set(user, in: .hours(1)) }
        #expect(throws: WakeRefusal.tooManyUsers) { try machine.set(65, in: .hours(1)) }
        try machine.set(64, in: .hours(2))
    }
}
