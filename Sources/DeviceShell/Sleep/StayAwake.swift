internal import EventLoop
internal import Linux
internal import Vocabulary

/// Keeps the machine awake while a grant runs (A11), by what it has for that: the kernel's wake
/// locks where we may use them, and logind's inhibitor.
@safe
final class StayAwake {
    private let wakeLock: WakeLock
    private let inhibitor = Inhibitor.ofIdleSleep("background work is running")
    private var isHeld = false
    private var timer: TimerSource?
    /// A machine that goes to sleep by itself takes minutes for it: a short run asks nobody.
    private static let patience = Interval.seconds(1)

    init(_ loop: EventLoop, _ systemBus: ServiceBus, _ wakeLock: WakeLock) {
        self.wakeLock = wakeLock
        timer = try? TimerSource(loop) { [unowned self] in inhibitor.hold(isHeld) }
        systemBus.add(inhibitor)
    }

    func hold(_ hold: Bool) {
        isHeld = hold
        wakeLock.hold(hold)
        if hold {
            try? timer?.arm(at: Clocks.boot() + Self.patience)
        } else {
            try? timer?.arm(at: nil)
            inhibitor.hold(false)
        }
    }

    /// Gives back a hold of which the core knows nothing, such as that of a daemon that was killed.
    func endStale() { if !isHeld { wakeLock.hold(false) } }

    /// The end of this daemon: a grant that goes on has nobody to end it.
    func end() { if isHeld { hold(false) } }

    /// For people; empty: nothing keeps it awake. `hasLogind`: whether logind is there.
    func means(hasLogind: Bool) -> [String] {
        (wakeLock.isAvailable ? ["kernel wake locks"] : [])
            + (hasLogind && inhibitor.problem == nil ? ["logind's idle inhibitor"] : [])
    }
}
