internal import SystemBus
internal import Vocabulary

extension Bus {
    /// Changes of an object's properties. Check the sender: anybody on the bus can send such a
    /// signal to the daemon alone.
    func onChange(
        of object: ServiceObject,
        from service: String,
        _ body: @escaping (SignalMessage) -> Void
    ) throws(BusError) -> Subscription {
        try onSignal(
            "PropertiesChanged",
            of: "org.freedesktop.DBus.Properties",
            at: object.path,
            from: service,
            about: object.interface,
            body
        )
    }
}

extension SignalMessage {
    /// Of the properties that it says have changed.
    var changedNames: [String] {
        guard arguments.count == 3 else { return [] }
        return (arguments[1].mapValue?.keys ?? [])
            + (arguments[2].listValue ?? []).compactMap(\.stringValue)
    }
}
