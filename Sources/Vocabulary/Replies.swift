// What the core answers to a call, in the form in which D-Bus carries it and clients read it: a
// field that is nil is left out. Older clients and daemons are about, so a field that is added is
// optional, and a text may have values that a client does not know.

/// A request that is stored, or about to run.
package struct RequestedTask: Hashable, Sendable, Codable {
    package var app: AppID
    package var identifier: String
    package var request: RequestID
    /// Of a run: the newest line of the history, of whatever app, before it began.
    package var line: Int64?
    /// Conditions that it depends on and that no source reports.
    package var unsensed: [String]?
    /// Why its program would not be found now.
    package var warning: String?

    package init(
        app: AppID,
        identifier: String,
        request: RequestID,
        unsensed: [String]? = nil
    ) {
        (self.app, self.identifier, self.request) = (app, identifier, request)
        self.unsensed = unsensed
    }
}

/// An app that the user has opened.
package struct OpenedApp: Hashable, Sendable, Codable {
    package var launch: LaunchID
    /// Whether the caller is to become the app, by executing what follows. Nil: it ran already.
    package var attach: Bool?
    package var arguments: [String]?
    package var directory: String?
    package var environment: [String]?
    /// URLs that it has not been told of, because it ran already and has no connection.
    package var untold: Int64?

    package init(
        launch: LaunchID,
        attach: Bool? = nil,
        arguments: [String]? = nil,
        directory: String? = nil
    ) {
        (self.launch, self.attach) = (launch, attach)
        (self.arguments, self.directory) = (arguments, directory)
    }
}

/// What an app learns of itself when it connects.
package struct Greeting: Hashable, Sendable, Codable {
    package var app: AppID
    package var launch: LaunchID
    /// Foreground or background.
    package var state: Word<AppPresence>
    package var backgroundRefresh: Word<RefreshStatus>
    /// Of the protocol, as the daemon speaks it.
    package var version: Int64?
    /// Identifiers that the manifest permits.
    package var permitted: [String]?
    /// The parts of background work that the daemon has.
    package var features: [String]?
    /// For which it was opened, and has not been told yet.
    package var urls: [String]?
    /// The number of the last of these openings.
    package var opening: Int64?

    package init(
        app: AppID,
        launch: LaunchID,
        state: AppPresence,
        backgroundRefresh: RefreshStatus
    ) {
        (self.app, self.launch) = (app, launch)
        (self.state, self.backgroundRefresh) = (Word(state), Word(backgroundRefresh))
    }

    private enum CodingKeys: String, CodingKey {
        case app, launch, state, version, permitted, features, urls, opening
        case backgroundRefresh = "background-refresh"
    }
}

/// A background task of an app.
package struct BegunTask: Hashable, Sendable, Codable {
    /// 0: no time is available.
    package var task: Int64
    /// CLOCK_MONOTONIC, seconds; nil: without an end.
    package var deadline: Double?

    package init(task: Int64, deadline: Double? = nil) {
        (self.task, self.deadline) = (task, deadline)
    }
}

/// A request of an app that has not been handed to it.
package struct PendingRequest: Hashable, Sendable, Codable {
    package var identifier: String
    package var kind: Word<TaskKind>
    /// A date in seconds since 1970.
    package var earliest: Double?
    package var network: Bool?
    package var power: Bool?
    package var unmetered: Bool?
    package var unlocked: Bool?

    package init(identifier: String, kind: TaskKind, earliest: Double?, needs: Needs) {
        (self.identifier, self.kind, self.earliest) = (identifier, Word(kind), earliest)
        (network, power) = (needs.network, needs.power)
        (unmetered, unlocked) = (needs.unmetered, needs.unlocked)
    }
}

/// What an app may use, and what it does use; nil: without limit, or not measured.
package struct Limits: Hashable, Sendable, Codable {
    package var state: Word<AppPresence>
    /// Bytes.
    package var memory: Int64?
    package var memoryLimit: Int64?
    /// Seconds.
    package var cpu: Double?
    /// Share of one processor, averaged over so many seconds.
    package var cpuLimit: Double?
    package var cpuWindow: Double?
    /// CLOCK_MONOTONIC, seconds.
    package var deadline: Double?

    package init(state: AppPresence) { self.state = Word(state) }

    private enum CodingKeys: String, CodingKey {
        case state, memory, cpu, deadline
        case memoryLimit = "memory-limit"
        case cpuLimit = "cpu-limit"
        case cpuWindow = "cpu-window"
    }
}
