internal import SystemBus
internal import Vocabulary

/// The machine's way to sleep and back, as logind tells of it. Sleep waits for `prepare`, and what
/// is due is looked at on the way back.
@safe
final class SleepWatch: ServiceBus.Client {
    private let prepare: (_ done: @escaping () -> Void) -> Void
    private let resumed: () -> Void
    private let delay = Inhibitor.delayingSleep("prepares for sleep")
    private var signal: Subscription?
    private var logind: NameWatch?
    /// Which of its sleeps the machine is about to begin; nil: none.
    private var next: Int?
    private var count = 0

    init(
        _ systemBus: ServiceBus,
        prepare: @escaping (_ done: @escaping () -> Void) -> Void,
        resumed: @escaping () -> Void
    ) {
        (self.prepare, self.resumed) = (prepare, resumed)
        systemBus.add(self)
        systemBus.add(delay)
        delay.hold(true)
    }

    func connected(_ bus: Bus) throws(BusError) {
        // What a bus that has gone said of a sleep is over.
        next = nil
        // Before it is asked for anything: what it says after that is known to be its own.
        logind = try NameWatch(ServiceRow.logind.name, on: bus) { _ in }
        delay.hold(true)
        signal = try bus.onSignal(
            "PrepareForSleep",
            of: Logind.manager.interface,
            at: Logind.manager.path,
            from: ServiceRow.logind.name
        ) { [unowned self] message in
            guard message.sender == logind?.owner,
                let isBefore = message.arguments.first?.boolValue
            else { return }
            guard isBefore else {
                next = nil
                resumed()
                return delay.hold(true)
            }
            count += 1
            let number = count
            next = number
            // By the time that all is prepared it may have slept and be awake again, or be about
            // to sleep once more.
            prepare { [unowned self] in if next == number { delay.hold(false) } }
        }
    }

    func disconnected() { (signal, logind) = (nil, nil) }
}
