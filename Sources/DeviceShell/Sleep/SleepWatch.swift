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
    /// The machine is about to sleep.
    private var isPreparing = false

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
        signal = try bus.onSignal(
            "PrepareForSleep",
            of: Logind.manager.interface,
            at: Logind.manager.path,
            from: ServiceRow.logind.name
        ) { [unowned self] message in
            guard let isBefore = message.arguments.first?.boolValue else { return }
            isPreparing = isBefore
            guard isBefore else {
                resumed()
                return delay.hold(true)
            }
            // It may have slept, and be awake again, by the time that all is prepared.
            prepare { [unowned self] in if isPreparing { delay.hold(false) } }
        }
    }

    func disconnected() { signal = nil }
}
