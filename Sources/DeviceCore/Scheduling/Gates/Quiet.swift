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
        words: {
            let end = end($0) ?? $0.now.wall
            let interval = interval($0) ?? .zero
            return GateWords(
                value: "\(max(.zero, $0.now.wall - (end - interval))) since the last use or run",
                needed: "\(interval)",
                since: end - interval,
                sentence: "it ran or was used a moment ago, and rests for \(interval)"
            )
        }
    )

    private static func end(_ context: borrowing GateContext) -> WallTime? {
        guard let request = context.request, let interval = interval(context) else { return nil }
        if request.origin == .submitted { return request.lastEnd.map { $0 + interval } }
        let record = context.app.record
        var last: WallTime?
        switch request.kind {
        case .refresh:
            last = max(record.lastRefreshEnd ?? .distantPast, record.lastUsed ?? .distantPast)
            if last == .distantPast { last = nil }
        case .processing: last = record.lastProcessingEnd
        }
        return last.map { $0 + interval }
    }

    private static func interval(_ context: borrowing GateContext) -> Interval? {
        guard let request = context.request, let manifest = context.app.manifest else { return nil }
        switch (request.origin, request.kind) {
        case (.submitted, _): return request.every
        case (.command, .refresh):
            return manifest.refreshInterval ?? context.settings.refreshFloor
        case (.command, .processing):
            return manifest.processingInterval ?? context.settings.processingInterval
        case (.fetch, _):
            switch context.app.record.fetchInterval {
            case .never: return .forever
            case .minimum: return context.settings.refreshFloor
            case .every(let interval): return max(interval, context.settings.refreshFloor)
            }
        }
    }
}
