package import Linux
package import SQLite

/// Why the store cannot be used. Each names the file, what was found, and what to do.
package enum StoreError: Error, Equatable {
    /// Not a database, or one of another program.
    case notOurs(path: String, found: String)
    /// Written by a newer version.
    case newer(path: String, version: Int64, supported: Int64)
    case corrupt(path: String, found: String)
    /// Sound, but with a record that this version cannot read.
    case foreign(path: String, record: String)
    case database(path: String, SQLiteError)
    case file(path: String, LinuxError)
    /// It works, and nobody who starts would find it.
    case gone(StateLoss)

    init(_ error: SQLiteError, path: String) {
        self =
            switch error.code {
            case .corrupt, .notADatabase: .corrupt(path: path, found: error.message)
            default: .database(path: path, error)
            }
    }

    /// Runs `body`, and names the file in its error.
    static func naming<Answer>(
        _ path: String,
        _ body: () throws(SQLiteError) -> Answer
    ) throws(StoreError) -> Answer {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw StoreError(error, path: path)
        }
    }

    /// The disk, or the quota, is full; another try may succeed.
    package var isFull: Bool {
        switch self {
        case .database(_, let error): error.isFull
        case .file(_, let error): error.errno == .noSpace
        case .notOurs, .newer, .corrupt, .foreign, .gone: false
        }
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notOurs(let path, let found):
            "\(path) is not an Offstage database (\(found)). It was not changed. "
                + "Move it away, or choose another directory with --state."
        case .newer(let path, let version, let supported):
            "\(path) was written by a newer Offstage (version \(version) of the database; this "
                + "program knows \(supported)). It was not changed. Install that version again, or "
                + "choose another directory with --state."
        case .corrupt(let path, let found):
            "\(path) is damaged (\(found)). It was not changed. Restore it from a backup, or "
                + "move it away to start with an empty one; the apps' manifests are not in it."
        case .foreign(let path, let record):
            "\(path) holds a record that this version cannot read (\(record)). It was not "
                + "changed. Install the version that wrote it."
        case .database(let path, let error):
            "\(path): \(error)"
        case .file(let path, let error):
            "\(path) cannot be used: \(error)"
        case .gone(let loss):
            "\(loss)"
        }
    }
}
