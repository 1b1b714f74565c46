package import Vocabulary

/// Why an alarm is not set, or the machine not sent back to sleep.
package enum WakeRefusal: Error, Equatable {
    case inThePast
    case tooFar
    case tooManyUsers
    /// No alarm of this user has woken the machine since it slept last, or that was used up.
    case notWoken
}

/// Who may wake the machine, and when, and who may send it back to sleep. Each user has at most one
/// alarm. A wake by that alarm allows one sleep, until the machine sleeps for another reason. Pure:
/// it reads no clock.
package struct WakeLedger: Equatable, Sendable {
    /// A user of the machine who asked for something.
    package typealias User = UInt32

    private struct Alarm: Equatable {
        let user: User
        let at: BootTime
        /// How long the machine had slept since boot when it was set, or was awake last before it.
        var slept: Interval
    }

    private struct Wake: Equatable {
        let user: User
        let at: AwakeTime
        /// How long the machine had slept since boot.
        let slept: Interval

        func allowsSleep(at now: Moment) -> Bool {
            now.awake - at <= WakeLedger.patience
                && WakeLedger.sleep(by: now) - slept < WakeLedger.imprecision
        }
    }

    private var alarms: [Alarm] = []
    private var wakes: [Wake] = []

    /// Nobody plans further ahead.
    package static let longest = Interval.days(31)
    package static let users = 64
    /// How long after the wake the machine may be sent back to sleep.
    package static let patience = Interval.minutes(30)
    /// An alarm that is handled later than this has not woken the machine.
    package static let delay = Interval.seconds(10)
    /// A real-time clock counts in seconds: it may ring so much too early.
    package static let advance = Interval.seconds(1)
    /// The clocks are read one after the other.
    private static let imprecision = Interval.milliseconds(100)

    package init() {}

    /// When the machine must be woken next; nil: for nobody.
    package var next: BootTime? { alarms.map(\.at).min() }

    /// Nothing is remembered: the helper may end.
    package func isIdle(at now: Moment) -> Bool {
        alarms.isEmpty && !wakes.contains { $0.allowsSleep(at: now) }
    }

    /// How long the machine has slept since boot.
    private static func sleep(by now: Moment) -> Interval {
        Interval(nanoseconds: now.boot.nanoseconds - now.awake.nanoseconds)
    }

    /// In place of an earlier alarm of the user. A new one also ends what a wake has allowed: the
    /// machine is about to sleep.
    package mutating func set(
        _ user: User,
        at time: BootTime,
        now: Moment
    ) throws(WakeRefusal) {
        guard time > now.boot else { throw .inThePast }
        guard time - now.boot <= Self.longest else { throw .tooFar }
        clear(user)
        guard alarms.count < Self.users else { throw .tooManyUsers }
        alarms.append(Alarm(user: user, at: time, slept: Self.sleep(by: now)))
    }

    package mutating func clear(_ user: User) {
        alarms.removeAll { $0.user == user }
        wakes.removeAll { $0.user == user }
    }

    /// The machine may have woken just now. Alarms that are still to come were not the cause, and
    /// are not if it stays awake until then.
    package mutating func isAwake(at now: Moment) {
        let slept = Self.sleep(by: now)
        for index in alarms.indices where alarms[index].at - now.boot > Self.advance {
            alarms[index].slept = slept
        }
    }

    /// The alarm rang. Whose time has come has no alarm any more; if the machine slept before, and
    /// was woken by this, it may be sent back to sleep.
    package mutating func rang(at now: Moment) {
        let slept = Self.sleep(by: now)
        for alarm in alarms where alarm.at <= now.boot {
            guard slept - alarm.slept >= .seconds(1), now.boot - alarm.at < Self.delay else {
                continue
            }
            wakes.append(Wake(user: alarm.user, at: now.awake, slept: slept))
        }
        alarms.removeAll { $0.at <= now.boot }
    }

    /// Uses up what a wake has allowed.
    package mutating func sleepAgain(_ user: User, now: Moment) throws(WakeRefusal) {
        guard let index = wakes.firstIndex(where: { $0.user == user }) else { throw .notWoken }
        let wake = wakes.remove(at: index)
        guard wake.allowsSleep(at: now) else { throw .notWoken }
        // Whoever else was woken: the machine sleeps now.
        wakes.removeAll()
    }
}
