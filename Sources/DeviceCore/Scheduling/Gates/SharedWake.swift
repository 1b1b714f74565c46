import Vocabulary

extension GateTable.Definition {
    /// Refreshes of several apps share one wake of the device (B4). The instants are offset per
    /// device, so that servers are spared (B10). A device that is in use is awake anyway.
    static let sharedWake = Self(
        title: "waiting for the shared wake",
        kind: .saving,
        check: {
            guard $0.conditions.deviceIdle else { return .open }
            return .held(until: next($0), at: $0.now)
        },
        explain: {
            GateExplanation(
                value: $0.now.text(for: $0.now.wall),
                needed: $0.now.text(for: next($0)),
                since: nil,
                sentence: "it shares the next wake of the device"
            )
        }
    )

    /// The first shared instant after the moment that the policy chose.
    private static func next(_ context: borrowing GateContext) -> WallTime {
        // Moments that are chosen for all apps together are shared already.
        guard context.hasBetterMoments, !context.isLearned else { return .distantPast }
        let every = context.settings.sharedWake.nanoseconds
        guard every > 0 else { return .distantPast }
        let offset = context.device.seed % every
        let from = context.plan.at.nanoseconds
        guard from > 0 else { return .distantPast }
        let rest = (from - offset) % every
        let shared = WallTime(nanoseconds: rest <= 0 ? from - rest : from + (every - rest))
        // Not after the end of the user's day: by then its moment would be tomorrow.
        let day = WakingHours(context.settings.value, utcOffset: context.now.utcOffset)
        return day.current(at: shared) == nil ? context.plan.at : shared
    }
}
