internal import SystemBus
internal import Vocabulary

/// The owner of a name on a message bus, followed as it changes.
@safe
final class NameWatch {
    private let changed: (_ isThere: Bool) -> Void
    private var signal: Subscription?
    /// Its unique name; nil: nobody has it, or that is not known yet.
    private(set) var owner: String?

    /// `startingIt`: the bus is asked to start it, as desktops do. A service that is not there, or
    /// cannot be started, is no failure of ours.
    init(
        _ name: String,
        on bus: Bus,
        startingIt: Bool = false,
        changed: @escaping (_ isThere: Bool) -> Void
    ) throws(BusError) {
        self.changed = changed
        // Listened to before it is asked: nothing falls between.
        signal = try bus.onSignal(
            "NameOwnerChanged",
            of: Target.messageBusName,
            at: Target.messageBusPath,
            from: Target.messageBusName,
            about: name
        ) { [unowned self] message in
            guard message.sender == Target.messageBusName else { return }
            found(message.arguments.last?.stringValue)
        }
        if startingIt {
            try bus.call(
                .messageBus("StartServiceByName"),
                [.string(name), .integer(0)],
                signature: "su"
            ) { _ in }
        }
        try bus.call(.messageBus("GetNameOwner"), [.string(name)], signature: "s") {
            [weak self] answer in
            if case .success(let values) = answer { self?.found(values.first?.stringValue) }
        }
    }

    private func found(_ name: String?) {
        let new = name.flatMap { $0.isEmpty ? nil : $0 }
        guard new != owner else { return }
        owner = new
        changed(new != nil)
    }
}
