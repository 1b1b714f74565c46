import Vocabulary

extension GateTable.Definition {
    /// The minimum interval: a quiet period after each use or fetch (B2), and the rest between the
    /// runs of `--every`.
    static let quiet = Self(
        title: "quiet period",
        kind: .saving,
        check: {
            guard let end = end($0) else { return .open }
            return .held(until: end, at: $0.now)
        },
        explain: {
            let end = end($0) ?? $0.now.wall
            let interval = $0.quietInterval ?? .zero
            return GateExplanation(
                value: "\(max(.zero, $0.now.wall - (end - interval))) since the last use or run",
                needed: "\(interval)",
                since: end - interval,
                sentence: "its quiet period is \(interval) from its last run or use"
            )
        }
    )

    private static func end(_ context: borrowing GateContext) -> WallTime? {
        context.work.quietEnd(in: context.app, context.settings)
    }
}

extension GateContext {
    fileprivate var quietInterval: Interval? { work.quietInterval(in: app, settings) }
}

extension Work {
    /// When the quiet period before its next run is over; nil: there is none.
    func quietEnd(in app: AppState, _ settings: Shared<Settings>) -> WallTime? {
        guard let interval = quietInterval(in: app, settings) else { return nil }
        return lastEnd(in: app).map { $0 + interval }
    }

    /// What a quiet period begins with.
    private func lastEnd(in app: AppState) -> WallTime? {
        switch origin {
        case .submitted, .event, .transfer: return lastEnd
        case .command, .fetch:
            let ran = app.lastEnd(of: trigger)
            // What the user has just looked at is fresh.
            guard trigger.row.fetches, let used = app.lastUsed else { return ran }
            return ran.map { max($0, used) } ?? used
        }
    }

    fileprivate func quietInterval(in app: AppState, _ settings: Shared<Settings>) -> Interval? {
        guard let manifest = app.manifest else { return nil }
        switch origin {
        case .submitted, .event, .transfer: return every
        case .command: return trigger.row.command?.interval(manifest, settings)
        case .fetch:
            switch app.fetchInterval {
            case .never: return .forever
            case .minimum: return settings.minimumRefreshInterval
            case .every(let interval): return max(interval, settings.minimumRefreshInterval)
            }
        }
    }
}
