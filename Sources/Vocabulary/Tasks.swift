// Words that core and protocol have in common.

/// What is asked for, as Apple's requests have it.
package enum TaskKind: String, Hashable, Sendable, Codable, CaseIterable {
    case refresh, processing
}

/// What an app says of work it was given.
package enum TaskResult: String, Hashable, Sendable, Codable, CaseIterable {
    case newData, noData, failed
    /// `setTaskCompleted(success:)`.
    case succeeded, unsuccessful
}

/// What a test may force.
package enum Simulation: String, Hashable, Sendable, Codable, CaseIterable {
    case launch, expire, fetch
}
