import EventLoop
import Linux
import Vocabulary

/// The seconds at which links are to be looked at, and the timer that comes for them.
final class LinkAlarms {
    struct Listing {
        /// 0 is nobody's.
        var link: UInt64
        var second: Int64
    }

    // More than the longest interval with its quarter and grace.
    private var wheel = TimerWheel<Listing>(slots: 1024, width: 4, now: LinkAlarms.second())
    private var timer: TimerSource?
    private var armed: Int64?
    private let due: ([Listing], _ now: Int64) -> Void

    /// `due` gets those whose second has come, and may list them again.
    init(
        _ loop: EventLoop,
        due: @escaping ([Listing], _ now: Int64) -> Void
    ) throws(LinuxError) {
        self.due = due
        timer = try TimerSource(loop) { [unowned self] in timePassed() }
    }

    /// Of the boot clock.
    static func second() -> Int64 { Clocks.boot().nanoseconds / 1_000_000_000 }

    func list(_ link: UInt64, at second: Int64) {
        wheel.insert(Listing(link: link, second: second), at: second)
        if armed.map({ second < $0 }) ?? true { arm() }
    }

    private func timePassed() {
        let now = Self.second()
        armed = nil
        due(wheel.take(at: now), now)
        arm()
    }

    private func arm() {
        let alarm = wheel.alarm
        guard alarm != armed else { return }
        armed = alarm
        try? timer?.arm(at: alarm.map { BootTime(nanoseconds: $0 * 1_000_000_000) })
    }
}
