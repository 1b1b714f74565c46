import Vocabulary

extension GateTable.Definition {
    /// So many runs side by side, and only one that is heavy on the processor.
    static let runSlots = Self(
        title: "run slots",
        kind: .needed,
        check: {
            let running = $0.device.running
            if running.all >= Int($0.settings.runSlots) { return .held(.event) }
            switch $0.trigger {
            case .processing: return running.processing > 0 ? .held(.event) : .open
            case .refresh, .continued, .push, .voip, .discretionaryTransfer, .transfer,
                .transferEvents, .location, .mode, .notificationAction, .finishUp:
                return .open
            }
        },
        words: {
            let running = $0.device.running
            return GateWords(
                value: "\(running.all) running, \(running.processing) of them processing",
                needed: "fewer than \($0.settings.runSlots), one processing",
                since: nil,
                sentence: "other apps are running, and it is next in line"
            )
        }
    )
}
