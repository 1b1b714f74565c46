package import DeviceCore
internal import Linux
internal import SQLite
package import Vocabulary

/// What must survive: the device's records and its history, in one SQLite file that only this
/// daemon has open. One commit a turn; when it returns, the changes are on the disk.
@safe
package final class Store {
    /// `Offs` as a number: tells our databases from others.
    static let applicationID: Int64 = 0x4F66_6673

    private let path: String
    private let fileSystem: String?
    /// Why a daemon that starts would not find what is stored here; nil: it would.
    package var loss: () -> StateLoss? = { nil }
    private var database: Database
    private var put: Statement
    private var delete: Statement
    private var append: Statement
    private var durability = Durability.powerLoss
    /// History lines since it was last pruned; the first line of a run prunes.
    private var appended = Store.pruningInterval - 1
    private static let pruningInterval = 500
    /// The newest line of the history, and the newest one of a commit that was found in its place.
    private(set) var newest: Int64 = 0
    private var newestKept: Int64 = 0
    /// Lines kept, and how old they may be; set from the settings.
    package var historyLimit: Int64 = 20_000
    package var historyAge = Interval.days(90)
    /// So many lines stay whatever their dates: a clock that was wrong once has no say in it.
    private static let linesOfAnyAge: Int64 = 100
    /// One question is answered with this many lines at most.
    package static let largestAnswer = 10_000

    /// Opens or makes the database. What is not ours, newer, or damaged is refused before
    /// anything is written, and left byte for byte as it is.
    package init(path: String, fileSystem: String? = nil) throws(StoreError) {
        (self.path, self.fileSystem) = (path, fileSystem)
        database = try StoreFile(path: path, fileSystem: fileSystem).open()
        do throws(SQLiteError) {
            put = try database.prepare(Self.put)
            delete = try database.prepare(Self.delete)
            append = try database.prepare(Self.append)
            newest = try Self.newestLine(of: database)
            newestKept = newest
        } catch {
            throw StoreError(error, path: path)
        }
    }

    private static let put =
        "INSERT INTO records (section, key, body) VALUES (?1, ?2, ?3) "
        + "ON CONFLICT (section, key) DO UPDATE SET body = ?3"
    private static let delete = "DELETE FROM records WHERE section = ?1 AND key = ?2"
    private static let append = "INSERT INTO history (at, app, body) VALUES (?1, ?2, ?3)"

    private static func newestLine(of database: Database) throws(SQLiteError) -> Int64 {
        try database.integer("SELECT id FROM history ORDER BY id DESC LIMIT 1") ?? 0
    }

    // MARK: Records

    /// All records, in order of section and key.
    package func load() throws(StoreError) -> [Record] {
        try StoredRows(database, path: path).records()
    }

    /// All or nothing, on the disk when it returns if it must survive a loss of power. Without
    /// changes it only tries whether the database takes writes.
    package func commit(
        _ changes: [Change],
        _ durability: Durability = .powerLoss
    ) throws(StoreError) {
        // Nothing is written where it would come back with the file after it was refused.
        try checkPlace()
        try transact(durability) { () throws(SQLiteError) in
            for change in changes { try apply(change) }
            if changes.isEmpty {
                try database.setUserVersion(Int32(StoreMigrations.newest))
            }
            if appended >= Self.pruningInterval { try deleteOldLines() }
        }
        try checkPlace()
        newestKept = newest
    }

    /// After thousands of changes, of which nobody reads anything soon.
    func releaseCache() { database.releaseCache() }

    private func checkPlace() throws(StoreError) {
        if let loss = loss() { throw .gone(loss) }
    }

    private func transact(
        _ durability: Durability,
        _ body: () throws(SQLiteError) -> Void
    ) throws(StoreError) {
        let before = (appended, newest)
        do throws(SQLiteError) {
            try set(durability)
            try database.transaction(body)
            // Now rather than when somebody waits for the next one.
            if durability == .kill { try? set(.powerLoss) }
        } catch {
            (appended, newest) = before
            throw StoreError(error, path: path)
        }
    }

    private func set(_ durability: Durability) throws(SQLiteError) {
        guard durability != self.durability else { return }
        // NORMAL syncs nothing of a log written ahead; the next FULL commit all of it.
        try database.setSynchronous(durability == .kill ? .normal : .full)
        self.durability = durability
    }

    private func apply(_ change: Change) throws(SQLiteError) {
        switch change {
        case .put(let record):
            defer { put.reset() }
            let key = record.key
            try put.bind(key.section.rawValue, at: 1)
            try put.bind(key.key, at: 2)
            try put.bind(ValueBytes.encode(record.value), at: 3)
            try put.run()
        case .delete(let key):
            defer { delete.reset() }
            try delete.bind(key.section.rawValue, at: 1)
            try delete.bind(key.key, at: 2)
            try delete.run()
        case .append(let line):
            defer { append.reset() }
            try append.bind(line.at.nanoseconds, at: 1)
            try append.bind(line.app.name, at: 2)
            try append.bind(body(of: line), at: 3)
            try append.run()
            appended += 1
            newest = database.lastInserted
        }
    }

    private func body(of line: HistoryLine) throws(SQLiteError) -> [UInt8] {
        do {
            return try ValueEncoder().bytes(line)
        } catch {
            throw SQLiteError(
                extendedCode: SQLiteError.Code.mismatch.rawValue,
                operation: .bind,
                message: "\(error)",
                subject: "history"
            )
        }
    }

    // MARK: After a loss

    /// Makes these records durable and no others, with the lines of `changes` beside the history,
    /// in the file, which is in its place again.
    package func commitAnew(
        _ records: [Record],
        with changes: [Change]
    ) throws(StoreError) {
        try checkPlace()
        try replaceAll(records, with: changes)
        try checkPlace()
        newestKept = newest
    }

    /// The same in a new file. Of the history goes in what the old one, which is still open,
    /// can tell.
    package func make(_ records: [Record], with changes: [Change]) throws(StoreError) {
        let file = StoreFile(path: path, fileSystem: fileSystem)
        try file.replace { (draft) throws(StoreError) in
            let other = try Store(path: draft, fileSystem: fileSystem)
            do throws(SQLiteError) {
                try other.copyHistory(of: self)
            } catch {
                let failure = StoreError(error, path: path)
                if failure.isFull { throw failure }
                DaemonLog.write("the history is lost with its file: \(error)")
            }
            try other.replaceAll(records, with: changes)
        }
        do throws(StoreError) {
            try reopen(file)
        } catch {
            removeFile()
            throw error
        }
    }

    private func reopen(_ file: StoreFile) throws(StoreError) {
        let fresh = try file.open()
        do throws(SQLiteError) {
            let put = try fresh.prepare(Self.put)
            let delete = try fresh.prepare(Self.delete)
            let append = try fresh.prepare(Self.append)
            newest = try Self.newestLine(of: fresh)
            // SQLite closes the old one and leaves the log alone that is at its path now.
            (database, durability, newestKept) = (fresh, .powerLoss, newest)
            self.put = put
            self.delete = delete
            self.append = append
        } catch {
            throw StoreError(error, path: path)
        }
    }

    /// One that was made just now, and is not to count.
    func removeFile() { StoreFile(path: path, fileSystem: fileSystem).remove() }

    private func replaceAll(_ records: [Record], with changes: [Change]) throws(StoreError) {
        try transact(.powerLoss) { () throws(SQLiteError) in
            try database.execute("DELETE FROM records")
            // Of commits that were refused.
            try database.execute("DELETE FROM history WHERE id > \(newestKept)")
            newest = newestKept
            for record in records { try apply(.put(record)) }
            for case .append(let line) in changes { try apply(.append(line)) }
        }
    }

    private func copyHistory(of old: Store) throws(SQLiteError) {
        let rows = try old.database.prepare(
            "SELECT id, at, app, body FROM history WHERE id <= ?1 ORDER BY id"
        )
        try rows.bind(old.newestKept, at: 1)
        try database.transaction { () throws(SQLiteError) in
            let insert = try database.prepare(
                "INSERT INTO history (id, at, app, body) VALUES (?1, ?2, ?3, ?4)"
            )
            while try rows.step() {
                try insert.bind(rows.integer(at: 0), at: 1)
                try insert.bind(rows.integer(at: 1), at: 2)
                try insert.bind(rows.text(at: 2), at: 3)
                try insert.bind(rows.bytes(at: 3), at: 4)
                try insert.run()
                insert.reset()
            }
        }
        newest = try Self.newestLine(of: database)
        newestKept = newest
    }

    // MARK: History

    package struct StoredLine: Equatable, Sendable {
        package var id: Int64
        package var line: HistoryLine
    }

    /// The newest lines first, of one app or of all, those before a line or from the end.
    package func history(
        of app: AppID? = nil,
        before: Int64? = nil,
        limit: Int
    ) throws(StoreError) -> [StoredLine] {
        var rows: [(Int64, [UInt8])] = []
        do throws(SQLiteError) {
            let statement = try database.prepare(
                "SELECT id, body FROM history WHERE id < ?1"
                    + (app == nil ? "" : " AND app = ?3") + " ORDER BY id DESC LIMIT ?2"
            )
            try statement.bind(before ?? .max, at: 1)
            try statement.bind(Int64(min(max(0, limit), Self.largestAnswer)), at: 2)
            if let app { try statement.bind(app.name, at: 3) }
            while try statement.step() {
                rows.append((try statement.integer(at: 0), try statement.bytes(at: 1)))
            }
        } catch {
            throw StoreError(error, path: path)
        }
        let stored = StoredRows(database, path: path)
        var lines: [StoredLine] = []
        for (id, bytes) in rows {
            lines.append(StoredLine(id: id, line: try stored.line(id, bytes)))
        }
        return lines
    }

    /// Takes away the lines that are too many or too old.
    private func deleteOldLines() throws(SQLiteError) {
        appended = 0
        let last = try database.prepare("SELECT id, at FROM history ORDER BY id DESC LIMIT 1")
        guard try last.step() else { return }
        let id = try last.integer(at: 0)
        let oldest = WallTime(nanoseconds: try last.integer(at: 1)) - historyAge
        last.reset()
        let statement = try database.prepare(
            "DELETE FROM history WHERE id <= ?1 OR id <= ?2 AND at < ?3"
        )
        try statement.bind(id - historyLimit, at: 1)
        try statement.bind(id - Self.linesOfAnyAge, at: 2)
        try statement.bind(oldest.nanoseconds, at: 3)
        try statement.run()
    }
}
