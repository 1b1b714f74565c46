package import Vocabulary

/// The device as an app sees it, and its screen.
extension App1 {
    package struct WatchConditions: AppCall {
        package typealias Reply = DeviceConditions
        package init() {}
        package var asCall: App1 { .watchConditions(self) }
    }

    package struct SetIdleTimer: AppCall {
        /// The screen stays on.
        package var isDisabled = false
        package init() {}
        package var asCall: App1 { .setIdleTimer(self) }

        package mutating func pass(_ fields: inout Fields) throws(OptionError) {
            try fields.argument("disabled", &isDisabled)
        }
    }
}

extension DeviceConditions: CallReply {
    /// Its fields, for the documents.
    static let documentation =
        "battery (x, percent), power (b, external power), network (s: "
        + list(NetworkReach.self)
        + "), metered (b), low-data (b), low-power (b), thermal (s: "
        + list(ThermalLevel.self)
        + ")"

    private static func list<W: CaseIterable & RawRepresentable<String>>(_ type: W.Type) -> String {
        W.allCases.map(\.rawValue).joined(separator: ", ")
    }
}

extension DeviceConditions: AppReplyContent {
    package init?(_ reply: AppReply) {
        guard case .conditions(let conditions) = reply else { return nil }
        self = conditions
    }
    package var asReply: AppReply { .conditions(self) }
}
