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
                sentence: "it ran or was used a moment ago, and its quiet period is \(interval)"
            )
        }
    )

    private static func end(_ context: borrowing GateContext) -> WallTime? {
        context.request?.quietEnd(in: context.app, context.settings)
    }
}

extension GateContext {
    fileprivate var quietInterval: Interval? { request?.quietInterval(in: app, settings) }
}

extension Request {
    /// When the quiet period before its next run is over; nil: there is none.
    func quietEnd(in app: AppState, _ settings: Shared<Settings>) -> WallTime? {
        guard let interval = quietInterval(in: app, settings) else { return nil }
        let last: WallTime?
        switch (origin, kind) {
        case (.submitted, _): last = lastEnd
        case (_, .refresh):
            let (ran, used) = (app.lastRefreshEnd, app.lastUsed)
            last = ran.map { max($0, used ?? $0) } ?? used
        case (_, .processing): last = app.lastProcessingEnd
        }
        return last.map { $0 + interval }
    }

    fileprivate func quietInterval(in app: AppState, _ settings: Shared<Settings>) -> Interval? {
        guard let manifest = app.manifest else { return nil }
        switch (origin, kind) {
        case (.submitted, _): return every
        case (.command, .refresh): return manifest.refreshInterval ?? settings.refreshFloor
        case (.command, .processing):
            return manifest.processingInterval ?? settings.processingInterval
        case (.fetch, _):
            switch app.fetchInterval {
            case .never: return .forever
            case .minimum: return settings.refreshFloor
            case .every(let interval): return max(interval, settings.refreshFloor)
            }
        }
    }
}
