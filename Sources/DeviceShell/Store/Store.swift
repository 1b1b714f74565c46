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
    private let database: Database
    private var put: Statement
    private var delete: Statement
    private var append: Statement
    private var appended = 0
    /// Lines kept, and how old they may be; set from the settings.
    package var historyLimit: Int64 = 20_000
    package var historyAge = Interval.days(90)

    /// Opens or makes the database. What is not ours, newer, or damaged is refused before
    /// anything is written, and left byte for byte as it is.
    package init(path: String, fileSystem: String? = nil) throws(StoreError) {
        self.path = path
        try Self.checkHeader(path)
        do throws(SQLiteError) {
            let database = try Self.open(path, fileSystem: fileSystem)
            self.database = database
            put = try database.prepare(
                "INSERT INTO records (section, key, body) VALUES (?1, ?2, ?3) "
                    + "ON CONFLICT (section, key) DO UPDATE SET body = ?3"
            )
            delete = try database.prepare("DELETE FROM records WHERE section = ?1 AND key = ?2")
            append = try database.prepare(
                "INSERT INTO history (at, app, body) VALUES (?1, ?2, ?3)"
            )
        } catch {
            throw Self.words(error, path)
        }
    }

    // MARK: Opening

    /// Reads the file's own header, which opens and makes nothing.
    private static func checkHeader(_ path: String) throws(StoreError) {
        guard let status = Files.status(path) else { return }
        guard status.kind == .file else {
            throw .notOurs(path: path, found: "it is not a file")
        }
        guard status.size > 0 else { return }
        let header: [UInt8]
        do {
            let file = try FileDescriptor(opening: path, .reading)
            header = try file.read(at: 0, count: 100)
        } catch {
            throw .notOurs(path: path, found: "\(error)")
        }
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw .notOurs(path: path, found: "it is not an SQLite database")
        }
        func number(_ at: Int) -> Int64 {
            header[at..<at + 4].reduce(0) { $0 << 8 | Int64($1) }
        }
        // Our number is written with the first tables; a crash in the middle of that leaves a
        // journal, from which SQLite takes it all back.
        let isBeginning = number(68) == 0 && Files.exists(path + "-journal")
        guard number(68) == applicationID || isBeginning else {
            throw .notOurs(path: path, found: "it belongs to another program")
        }
        guard number(60) <= StoreMigrations.newest else {
            throw .newer(path: path, version: number(60), supported: StoreMigrations.newest)
        }
    }

    private static func open(
        _ path: String,
        fileSystem: String?
    ) throws(SQLiteError) -> Database {
        if fileSystem == nil, Files.exists(path), !Files.exists(path + "-wal") {
            // Nobody is writing (we hold the lock of the state directory), so it can be read as a
            // file that nobody changes, which leaves no trace.
            let reader = try Database(path: path, mode: .immutable)
            try verify(reader, path)
        }
        let database = try Database(path: path, mode: .create, fileSystem: fileSystem)
        try database.lockExclusively()
        try verify(database, path)
        try database.setSynchronous(.full)
        // Before the write-ahead log, so that the file itself says whose it is and of which
        // version, whatever is still in the log.
        if try StoreMigrations.isDue(on: database) {
            try database.setJournalMode(.delete)
            try StoreMigrations.run(on: database)
        }
        try database.setJournalMode(.wal)
        return database
    }

    private static func verify(_ database: Database, _ path: String) throws(SQLiteError) {
        let findings = try database.findings(limit: 3)
        guard findings.isEmpty else {
            throw SQLiteError(
                extendedCode: SQLiteError.Code.corrupt.rawValue,
                operation: .step,
                message: findings.joined(separator: "; "),
                subject: path
            )
        }
    }

    private static func words(_ error: SQLiteError, _ path: String) -> StoreError {
        switch error.code {
        case .corrupt, .notADatabase: .corrupt(path: path, found: error.message)
        default: .database(path: path, error)
        }
    }

    // MARK: Records

    /// All records, in order of section and key.
    package func load() throws(StoreError) -> [(key: RecordKey, value: Value)] {
        var records: [(RecordKey, [UInt8])] = []
        do throws(SQLiteError) {
            let statement = try database.prepare(
                "SELECT section, key, body FROM records ORDER BY section, key"
            )
            while try statement.step() {
                let name = try statement.text(at: 0)
                guard let section = RecordKey.Section(rawValue: name) else {
                    throw SQLiteError(
                        extendedCode: SQLiteError.Code.corrupt.rawValue,
                        operation: .column,
                        message: "a record of the unknown kind \(name)",
                        subject: path
                    )
                }
                records.append(
                    (RecordKey(section, try statement.text(at: 1)), try statement.bytes(at: 2))
                )
            }
        } catch {
            throw Self.words(error, path)
        }
        var values: [(key: RecordKey, value: Value)] = []
        for (key, bytes) in records { values.append((key, try decode(bytes, "\(key.key)"))) }
        return values
    }

    private func decode(_ bytes: [UInt8], _ what: String) throws(StoreError) -> Value {
        do {
            return try ValueBytes.decode(bytes, limit: Int(Database.largestValue))
        } catch {
            throw .corrupt(path: path, found: "the record \(what): \(error)")
        }
    }

    /// All or nothing, on the disk when it returns.
    package func commit(_ changes: [Change]) throws(StoreError) {
        do throws(SQLiteError) {
            try database.transaction { () throws(SQLiteError) in
                for change in changes { try apply(change) }
                if changes.isEmpty {
                    // Asked whether it takes writes at all.
                    try database.setUserVersion(Int32(StoreMigrations.newest))
                }
            }
        } catch {
            throw Self.words(error, path)
        }
        guard appended >= 500 else { return }
        appended = 0
        try prune()
    }

    private func apply(_ change: Change) throws(SQLiteError) {
        switch change {
        case .put(let key, let value):
            defer { put.reset() }
            try put.bind(key.section.rawValue, at: 1)
            try put.bind(key.key, at: 2)
            try put.bind(ValueBytes.encode(value), at: 3)
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
            try statement.bind(Int64(max(0, limit)), at: 2)
            if let app { try statement.bind(app.name, at: 3) }
            while try statement.step() {
                rows.append((try statement.integer(at: 0), try statement.bytes(at: 1)))
            }
        } catch {
            throw Self.words(error, path)
        }
        var lines: [StoredLine] = []
        for (id, bytes) in rows {
            let value = try decode(bytes, "of the history, \(id)")
            do {
                lines.append(
                    StoredLine(
                        id: id,
                        line: try ValueDecoder().decode(HistoryLine.self, from: value)
                    )
                )
            } catch {
                throw .corrupt(path: path, found: "line \(id) of the history: \(error)")
            }
        }
        return lines
    }

    /// Takes away the lines that are too many or too old.
    package func prune() throws(StoreError) {
        do throws(SQLiteError) {
            let newest = try database.integer("SELECT max(at) FROM history WHERE at IS NOT NULL")
            let statement = try database.prepare(
                "DELETE FROM history WHERE id <= (SELECT max(id) FROM history) - ?1 OR at < ?2"
            )
            try statement.bind(historyLimit, at: 1)
            try statement.bind((newest ?? 0) - historyAge.nanoseconds, at: 2)
            try statement.run()
        } catch {
            throw Self.words(error, path)
        }
    }
}
