internal import SystemBus
internal import Vocabulary

/// Signs of somebody at a machine that has woken. They may be over before it is to sleep again: a
/// lid that was opened and closed, a program that inhibited sleep for a while.
@safe
final class WakeWatch {
    private var changes: [Subscription] = []
    /// The first; nil: there was none.
    private(set) var sign: String?

    /// `inhibitor`: who inhibits sleep now, or idleness; nobody, if it is nil.
    init(
        on bus: Bus,
        logind: NameWatch,
        upower: NameWatch,
        inhibitor: @escaping (_ then: @escaping (WakeHelper.Inhibition?) -> Void) -> Void
    ) throws(BusError) {
        let look = { [unowned self] in
            inhibitor { [weak self] in
                if let found = $0 { self?.saw("\(found.who) inhibited \(found.what)") }
            }
        }
        changes = [
            try bus.onChange(of: Logind.manager, from: ServiceRow.logind.name) { message in
                guard message.sender == logind.owner,
                    message.changedNames.contains("BlockInhibited")
                else { return }
                look()
            },
            // logind signals no change of the lid.
            try bus.onChange(of: UPower.service, from: ServiceRow.upower.name) {
                [unowned self] message in
                guard message.sender == upower.owner,
                    message.changedNames.contains("LidIsClosed")
                else { return }
                saw("its lid was moved")
            },
        ]
        look()
    }

    private func saw(_ sign: String) {
        if self.sign == nil { self.sign = sign }
        // One is enough.
        changes = []
    }
}
