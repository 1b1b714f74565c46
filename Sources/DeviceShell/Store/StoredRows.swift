internal import DeviceCore
internal import Linux
internal import SQLite
internal import Vocabulary

/// The rows of an open database: read as what they are of, and given another form by a step.
struct StoredRows {
    private let database: Database
    private let path: String

    init(_ database: Database, path: String) { (self.database, self.path) = (database, path) }

    // MARK: Reading

    private struct Row: Sendable {
        var section: String
        var key: String
        var body: [UInt8]
    }

    /// All records, in order of section and key. A piece at a time: there is not room for all rows
    /// beside all records.
    func records() throws(StoreError) -> [Record] {
        var records: [Record] = []
        var last = (section: "", key: "")
        while true {
            let rows = try rows(after: last)
            guard let end = rows.last else { return records }
            records += try self.records(rows)
            last = (end.section, end.key)
        }
    }

    /// Decoding them is most of what a start takes, so two threads do it. Each takes every second
    /// one: those of one kind, which take the same time, are side by side.
    private func records(_ rows: [Row]) throws(StoreError) -> [Record] {
        let size = rows.reduce(0) { $0 + $1.body.count }
        guard size > 1 << 16 else { return try Self.records(rows, from: 0, by: 1, path).get() }
        let (even, odd) = CurrentProcess.both(
            { [path] in Self.records(rows, from: 0, by: 2, path) },
            { Self.records(rows, from: 1, by: 2, path) }
        )
        let halves = (even: try even.get(), odd: try odd.get())
        return rows.indices.map { $0.isMultiple(of: 2) ? halves.even[$0 / 2] : halves.odd[$0 / 2] }
    }

    private static func records(
        _ rows: [Row],
        from first: Int,
        by step: Int,
        _ path: String
    ) -> Result<[Record], StoreError> {
        Result { () throws(StoreError) in
            var records: [Record] = []
            records.reserveCapacity(rows.count / step + 1)
            for index in stride(from: first, to: rows.count, by: step) {
                records.append(try record(rows[index], path))
            }
            return records
        }
    }

    private static func record(_ row: Row, _ path: String) throws(StoreError) -> Record {
        guard let section = RecordKey.Section(rawValue: row.section) else {
            throw .corrupt(path: path, found: "a record of the unknown kind \(row.section)")
        }
        let value = try decode(row.body, row.key, path)
        do {
            return try Record(RecordKey(section, row.key), value)
        } catch {
            throw .foreign(path: path, record: "\(error)")
        }
    }

    /// So many bytes are read at a time.
    private static let pieceBytes = 1 << 20

    private func rows(after last: (section: String, key: String)) throws(StoreError) -> [Row] {
        try StoreError.naming(path) { () throws(SQLiteError) in
            let statement = try database.prepare(
                "SELECT section, key, body FROM records WHERE (section, key) > (?1, ?2) "
                    + "ORDER BY section, key"
            )
            try statement.bind(last.section, at: 1)
            try statement.bind(last.key, at: 2)
            var rows: [Row] = []
            var size = 0
            while size < Self.pieceBytes, try statement.step() {
                let row = try Self.row(statement)
                size += row.body.count
                rows.append(row)
            }
            return rows
        }
    }

    private func rows(_ sql: String) throws(StoreError) -> [Row] {
        try StoreError.naming(path) { () throws(SQLiteError) in
            let statement = try database.prepare(sql)
            var rows: [Row] = []
            while try statement.step() { rows.append(try Self.row(statement)) }
            return rows
        }
    }

    private static func row(_ statement: borrowing Statement) throws(SQLiteError) -> Row {
        Row(
            section: try statement.text(at: 0),
            key: try statement.text(at: 1),
            body: try statement.bytes(at: 2)
        )
    }

    func line(_ id: Int64, _ bytes: [UInt8]) throws(StoreError) -> HistoryLine {
        let value = try Self.decode(bytes, "of the history, \(id)", path)
        do {
            return try ValueDecoder().decode(HistoryLine.self, from: value)
        } catch {
            throw .corrupt(path: path, found: "line \(id) of the history: \(error)")
        }
    }

    private static func decode(
        _ bytes: [UInt8],
        _ what: String,
        _ path: String
    ) throws(StoreError) -> Value {
        do {
            return try ValueBytes.decode(bytes, limit: Int(Database.largestValue))
        } catch {
            throw .corrupt(path: path, found: "the record \(what): \(error)")
        }
    }

    /// A page of lines at a time: a history may be long.
    private func forEachLine(
        _ body: (Int64, [UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var last = Int64.min
        while true {
            let page = try StoreError.naming(path) { () throws(SQLiteError) in
                let statement = try database.prepare(
                    "SELECT id, body FROM history WHERE id > ?1 ORDER BY id LIMIT 500"
                )
                try statement.bind(last, at: 1)
                var lines: [(Int64, [UInt8])] = []
                while try statement.step() {
                    lines.append((try statement.integer(at: 0), try statement.bytes(at: 1)))
                }
                return lines
            }
            guard let end = page.last?.0 else { return }
            for (id, bytes) in page { try body(id, bytes) }
            last = end
        }
    }

    // MARK: Steps

    func version() throws(StoreError) -> Int32 {
        try StoreError.naming(path) { () throws(SQLiteError) in try database.userVersion() }
    }

    func setVersion(_ version: Int64) throws(StoreError) {
        try StoreError.naming(path) { () throws(SQLiteError) in
            try database.setApplicationID(Int32(Store.applicationID))
            try database.setUserVersion(Int32(version))
        }
    }

    func execute(_ sql: String) throws(StoreError) {
        guard !sql.isEmpty else { return }
        try StoreError.naming(path) { () throws(SQLiteError) in try database.execute(sql) }
    }

    func edit(_ edits: [BodyEdit]) throws(StoreError) {
        for kind in StoredKind.allCases {
            let mine = edits.filter { $0.kind == kind }
            if mine.isEmpty { continue }
            switch kind {
            case .device, .app, .request, .launch, .transfer:
                try editRecords(of: kind.rawValue, mine)
            case .line: try editLines(mine)
            }
        }
    }

    private func editRecords(of section: String, _ edits: [BodyEdit]) throws(StoreError) {
        let rows = try rows(
            "SELECT section, key, body FROM records WHERE section = '\(section)'"
        )
        for row in rows {
            guard let body = try edited(row.body, "\(section) \(row.key)", edits) else { continue }
            try StoreError.naming(path) { () throws(SQLiteError) in
                let statement = try database.prepare(
                    "UPDATE records SET body = ?1 WHERE section = ?2 AND key = ?3"
                )
                try statement.bind(body, at: 1)
                try statement.bind(section, at: 2)
                try statement.bind(row.key, at: 3)
                try statement.run()
            }
        }
    }

    private func editLines(_ edits: [BodyEdit]) throws(StoreError) {
        try forEachLine { (id, bytes) throws(StoreError) in
            guard let body = try edited(bytes, "line \(id)", edits) else { return }
            try StoreError.naming(path) { () throws(SQLiteError) in
                let statement = try database.prepare("UPDATE history SET body = ?1 WHERE id = ?2")
                try statement.bind(body, at: 1)
                try statement.bind(id, at: 2)
                try statement.run()
            }
        }
    }

    /// The other form of a body; nil: it has that already.
    private func edited(
        _ bytes: [UInt8],
        _ what: String,
        _ edits: [BodyEdit]
    ) throws(StoreError) -> [UInt8]? {
        let old = try Self.decode(bytes, what, path)
        var new = old
        do throws(ValueError) {
            for edit in edits { try edit.apply(to: &new) }
        } catch {
            throw .foreign(path: path, record: "\(what): \(error)")
        }
        return new == old ? nil : ValueBytes.encode(new)
    }

    /// Throws unless all that is stored can be read.
    func check() throws(StoreError) {
        _ = try records()
        try forEachLine { (id, bytes) throws(StoreError) in _ = try line(id, bytes) }
    }
}
