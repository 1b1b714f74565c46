import Vocabulary

extension GateTable.Definition {
    /// So many runs side by side, and only one that is heavy on the processor.
    static let runSlots = Self(
        title: "run slots",
        kind: .needed,
        check: {
            let running = $0.device.running
            let isSecond = running.processing > 0 && $0.work.trigger.grant.isHeavy
            // Mostly there is room, whatever it joins.
            guard isSecond || running.all >= Int($0.settings.runSlots) else { return .open }
            // Side by side in one launch: no slot of its own, but processing may be new to it.
            guard let own = $0.joins else { return .held(.event) }
            return isSecond && !own.trigger.grant.isHeavy ? .held(.event) : .open
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
    /// The run of the app's own process that this work would be handed to; nil: it begins one.
    fileprivate var joins: Wake? {
        app.runsCommand(for: work) ? nil : app.mainWake
    }
}
