import SQLite

/// The store could not do it, in its own words.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// The file at `path` could not be opened.
    init(_ error: SQLiteError, opening path: String) {
        switch error.code {
        case .notADatabase, .corrupt:
            description =
                "\(path) is damaged (\(error.message)). Take it from a backup: "
                + "\"offstage-gateway help backup\"."
        default: description = "\(error)".contains(path) ? "\(error)" : "\(path): \(error)"
        }
    }
}
