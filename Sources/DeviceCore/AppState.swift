package import Vocabulary

/// What the device knows of one app.
package struct AppState: Hashable, Sendable, Codable {
    package var record: AppRecord
    /// Nil: unknown to us now (removed, or not yet seen since the start).
    package var manifest: AppManifest?
    /// Why the manifest cannot be used.
    package var problem: String?
    package var requests: [Request] = []
    package var launches: [Launch] = []
    /// The gates that hold any of its requests, as of the last look.
    var heldBy = GateSet()

    init(id: AppID) { record = AppRecord(id: id) }

    package var id: AppID { record.id }

    /// Transient: made by `offstage submit`, its manifest lives in the store.
    var isTransient: Bool { record.transient != nil }

    /// Speaks our protocol, as far as its manifest tells: it has a program, and no command that
    /// would be run in its place.
    var isLinked: Bool {
        manifest.map {
            $0.exec != nil && $0.refreshCommand == nil && $0.processingCommand == nil
        } ?? false
    }

    func index(of launch: LaunchID) -> Int? { launches.firstIndex { $0.id == launch } }
    func index(of request: RequestID) -> Int? { requests.firstIndex { $0.id == request } }

    /// Another was submitted in the place of this request, which does not come back then.
    func hasSuccessor(of request: Request) -> Bool {
        request.origin == .submitted
            && requests.contains {
                $0.id != request.id && $0.isReplaced(by: request.identifier)
            }
    }

    /// Served by a command of the manifest's, not by the app's own process.
    func runsCommand(for request: Request) -> Bool {
        request.origin != .fetch && manifest?.command(for: request.kind) != nil
    }

    var mainLaunch: Launch? { launches.first { $0.role == .main && $0.ending == nil } }
    var isForeground: Bool {
        launches.contains { $0.role == .main && $0.presence == .foreground }
    }
}

/// What is kept of an app across restarts.
package struct AppRecord: Hashable, Sendable, Codable {
    package var id: AppID
    /// The manifest of a transient app.
    package var transient: AppManifest?
    package var firstSeen: WallTime?
    package var lastUsed: WallTime?
    /// Since when there is no usable manifest; nil: there is one.
    package var goneSince: WallTime?
    /// Swiped away then, and not opened since.
    package var closedAt: WallTime?
    /// Held then because it was not used for a week, which stands in the history.
    package var unusedSince: WallTime?
    package var fetchInterval = FetchInterval.never
    package var failures = Failures()
    package var lastRun: LastRun?
    package var lastRefreshEnd: WallTime?
    package var lastProcessingEnd: WallTime?
    package var ledger = Ledger()
    package var refresh = RefreshMemory()
    /// Tokens of submissions already answered, newest last; at most 32.
    package var tokens: [AnsweredToken] = []

    package init(id: AppID) { self.id = id }
}

/// The last run's end, for `status` and `explain`.
package struct LastRun: Hashable, Sendable, Codable {
    package var at: WallTime
    package var identifier: String
    package var result: RunResult
    package var reason: String
}

package struct AnsweredToken: Hashable, Sendable, Codable {
    package var token: String
    package var request: RequestID
    package var identifier: String
}

/// Failures in a row, and the wait after them.
package struct Failures: Hashable, Sendable, Codable {
    package var count: Int64 = 0
    package var since: WallTime?
    package var reason = ""
    package var until: WallTime?
    package var commandRan = false
}
