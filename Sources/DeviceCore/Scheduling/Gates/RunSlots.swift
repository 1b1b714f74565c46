import Vocabulary

extension GateTable.Definition {
    /// So many runs side by side, and only one that is heavy on the processor.
    static let runSlots = Self(
        title: "run slots",
        kind: .needed,
        check: {
            let running = $0.device.running
            if let own = $0.joins {
                // Side by side in one launch: no slot of its own, but processing may be new to it.
                return $0.trigger == .processing && own.trigger != .processing
                    && running.processing > 0 ? .held(.event) : .open
            }
            if running.all >= Int($0.settings.runSlots) { return .held(.event) }
            switch $0.trigger {
            case .processing: return running.processing > 0 ? .held(.event) : .open
            case .refresh, .continued, .push, .voip, .discretionaryTransfer, .transfer,
                .transferEvents, .location, .mode, .notificationAction, .finishUp:
                return .open
            }
        },
        explain: {
            let running = $0.device.running
            return GateExplanation(
                value: "\(running.all) running, \(running.processing) of them processing",
                needed: "fewer than \($0.settings.runSlots), one processing",
                since: nil,
                sentence: "other apps are running, and its turn comes after them"
            )
        }
    )
}

extension GateContext {
    /// The run of the app's own process that this request would be handed to; nil: it begins one.
    fileprivate var joins: Wake? {
        guard let request, let wake = app.mainLaunch?.wake else { return nil }
        return app.runsCommand(for: request) ? nil : wake
    }
}
