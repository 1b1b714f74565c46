// Words that core and protocol have in common.

/// What is asked for, as Apple's requests have it.
package enum TaskKind: String, Hashable, Sendable, Codable, CaseIterable {
    case refresh, processing
}

/// Which handler of an app the work is for: those that this version of the library has. The words
/// are names of triggers.
package enum WorkKind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The first API's one handler.
    case fetch
    /// The handler that is registered for the identifier.
    case refresh, processing
    /// The app's one handler for the events of sessions; the identifier is that of the session.
    case sessionEvents
}

/// What an app says of work it was given.
package enum TaskResult: String, Hashable, Sendable, Codable, CaseIterable {
    case newData, noData, failed
    /// `setTaskCompleted(success:)`.
    case succeeded, unsuccessful
}

/// `backgroundRefreshStatus`.
package enum RefreshStatus: String, Hashable, Sendable, Codable, CaseIterable {
    case available
    /// The user turned it off, for this app or for all.
    case denied
    /// Nobody at this device can turn it on.
    case restricted
}

/// Where an app is, as it is told.
package enum AppPresence: String, Hashable, Sendable, Codable, CaseIterable {
    case foreground, background, suspended
    case notRunning = "not running"
}

/// What a test may force.
package enum Simulation: String, Hashable, Sendable, Codable, CaseIterable {
    case launch, expire, fetch
}

/// Why a run was, or is about to be, ended.
package enum StopReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The grant is used up.
    case timeout
    case powerLost, networkLost
    case networkMetered, lowDataMode
    case deviceInUse
    /// The data that it asked for is protected by the lock now.
    case dataLocked
    case lowPowerMode, thermal, memoryPressure
    case memoryLimit, cpuMonitor, fileLock
    case launchWatchdog
    case userClosed, cancelled, paused, simulated
    case manifestRemoved, interruptedTooLong
    /// The expiration handler ran and nothing was completed.
    case neverCompleted
}

/// What an app did wrong.
package enum AppMistake: String, Hashable, Sendable, Codable, CaseIterable {
    // What the device sees.
    case noHandler, noExpirationHandler, finishedTwice, completedTwice, notPermitted
    // What the app's library sees, and tells.
    case registeredLate, registeredTwice, registeredUnpermitted, completedAgain, letGo
}
