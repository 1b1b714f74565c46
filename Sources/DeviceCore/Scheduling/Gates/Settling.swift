import Vocabulary

extension GateTable.Definition {
    /// A network or a plug that comes and goes: what needs it is ended when it goes, and started
    /// only once it has held for a while.
    static let settling = Self(
        title: "network or power just came back",
        kind: .pause,
        check: {
            let end = settled($0).end
            return $0.now.boot >= end ? .open : .held(.boot(end))
        },
        explain: {
            let (end, condition) = settled($0)
            let what =
                condition == .power
                ? "external power"
                : condition == .metered ? "an unmetered network" : "the network"
            return GateExplanation(
                value: "just came back",
                needed: "\(max(.zero, end - $0.now.boot)) more",
                since: $0.conditions[condition].since,
                sentence: "\(what) has just come back and may go again"
            )
        }
    )

    /// When all that the work needs has held for long enough, and which of it is the last.
    private static func settled(
        _ context: borrowing GateContext
    ) -> (end: BootTime, condition: Condition) {
        let time = context.settings.settleTime
        func end(_ condition: Condition) -> BootTime {
            context.conditions.cameBack(condition).map { $0 + time } ?? .distantPast
        }
        let network = context.needsNetwork ? end(.network) : .distantPast
        let unmetered = context.work.needs.unmetered ? end(.metered) : .distantPast
        let power = context.work.needs.power ? end(.power) : .distantPast
        let last = max(network, unmetered, power)
        return (last, last == power ? .power : last == unmetered ? .metered : .network)
    }
}
