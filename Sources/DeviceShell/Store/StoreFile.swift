internal import Linux
internal import SQLite

/// The file of a store: made whole or not at all, and looked at before anything is written to it.
struct StoreFile {
    let path: String
    /// The name of a SQLite file system; nil is the ordinary one.
    let fileSystem: String?
    var migrations = StoreMigrations.current

    private var log: String { path + "-wal" }

    /// Opens the file, which is made if there is none. What is not ours, newer, or damaged is
    /// refused and left byte for byte as it is, with nothing beside it.
    func open() throws(StoreError) -> Database {
        if let status = Files.status(path) {
            guard status.kind == .file else {
                throw .notOurs(path: path, found: "it is not a file")
            }
            try checkHeader()
        } else {
            try make()
        }
        let database = try StoreError.naming(path) { () throws(SQLiteError) in try openChecked() }
        try migrate(database)
        try StoreError.naming(path) { () throws(SQLiteError) in
            try database.setPagesBetweenCheckpoints(Self.logPages)
        }
        reserveLog()
        return database
    }

    /// What the log holds before it is written back and begun anew. A turn changes few pages, and
    /// mostly the same ones.
    private static let logPages = 256
    /// With room for the commit that reaches this number.
    private static let logSize = Int64(logPages + 16) * (4096 + 24) + 32

    /// Writes the log to its usual size with zeros, which SQLite ignores. A commit then overwrites
    /// what is there, and the file system has no new size to make durable with it. For speed alone:
    /// a disk without room for it may have room for a commit.
    private func reserveLog() {
        guard let file = try? FileDescriptor(opening: log, [.writing, .create, .append]),
            let size = try? file.status().size, size < Self.logSize
        else { return }
        do {
            let zeros = [UInt8](repeating: 0, count: Int(Self.logSize - size))
            try file.writeAll(zeros.span)
        } catch {
            try? file.truncate(to: size)
        }
    }

    private func migrate(_ database: Database) throws(StoreError) {
        let isDue = try StoreError.naming(path) { () throws(SQLiteError) in
            try migrations.isDue(on: database)
        }
        if isDue {
            // What cannot be brought up to date is left byte for byte as it is.
            try migrations.rehearse(on: database, path: path)
            try StoreError.naming(path) { () throws(SQLiteError) in
                try database.setJournalMode(.delete)
                try database.setSynchronous(.extra)
            }
            try migrations.run(on: database, path: path)
        }
        try StoreError.naming(path) { () throws(SQLiteError) in
            try database.setSynchronous(.full)
            try database.setJournalMode(.wal)
        }
    }

    /// Refuses what a newer version has written, before the directory is locked or made: nothing in
    /// it is touched. All else is found when it is opened.
    func refuseNewer() throws(StoreError) {
        guard Files.status(path)?.kind == .file else { return }
        do throws(StoreError) {
            try checkHeader()
        } catch .newer(let path, let version, let supported) {
            throw .newer(path: path, version: version, supported: supported)
        } catch {}
    }

    // MARK: Making

    /// Makes the database under another name and gives it its own when it is complete, so that a
    /// crash never leaves half of one.
    private func make() throws(StoreError) {
        guard !Files.exists(log) else {
            throw .corrupt(path: path, found: "it is gone, but its log \(log) is there")
        }
        let draft = StoreFile(path: path + ".new", fileSystem: fileSystem)
        do {
            for leftover in [draft.path, draft.log, draft.path + "-journal"] {
                if Files.exists(leftover) { try Files.remove(leftover) }
            }
            _ = try FileDescriptor(opening: draft.path, [.writing, .create, .exclusive])
            try draft.fill()
            try Files.rename(draft.path, to: path)
            try FileDescriptor(opening: Files.directory(of: path), [.reading, .directory])
                .synchronize()
        } catch let error as LinuxError {
            throw .file(path: path, error)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .corrupt(path: path, found: "\(error)")
        }
    }

    private func fill() throws(StoreError) {
        let database = try StoreError.naming(path) { () throws(SQLiteError) in
            let database = try Database(path: path, mode: .readWrite, fileSystem: fileSystem)
            try database.lockExclusively()
            // A half of it is of no use: all is on the disk with the last step.
            try database.setSynchronous(.off)
            return database
        }
        try migrations.run(on: database, path: path)
        try StoreError.naming(path) { () throws(SQLiteError) in
            try database.setSynchronous(.extra)
            try database.setJournalMode(.wal)
        }
    }

    /// Puts a file here that `fill` makes at another path, in the place of what is left of an
    /// old one, of which nothing remains.
    func replace(_ fill: (_ draft: String) throws(StoreError) -> Void) throws(StoreError) {
        let draft = StoreFile(path: path + ".new", fileSystem: fileSystem)
        do throws(LinuxError) {
            for leftover in [draft.path, draft.log] where Files.exists(leftover) {
                try Files.remove(leftover)
            }
        } catch {
            throw .file(path: path, error)
        }
        try fill(draft.path)
        do throws(LinuxError) {
            // What was committed is still there, and not in the file that gets the name.
            guard !Files.exists(draft.log) else {
                throw LinuxError("write back", draft.log, .inputOutput)
            }
            // It would be taken for the log of the new one.
            if Files.exists(log) { try Files.remove(log) }
            try Files.rename(draft.path, to: path)
            try FileDescriptor(opening: Files.directory(of: path), [.reading, .directory])
                .synchronize()
        } catch {
            throw .file(path: path, error)
        }
    }

    func remove() {
        for path in [log, path] { try? Files.remove(path) }
    }

    // MARK: Checking

    /// Reads the file's own header, which opens and makes nothing. Migrations are written to the
    /// file itself, never to the log, so that it is enough.
    private func checkHeader() throws(StoreError) {
        let header: [UInt8]
        do throws(LinuxError) {
            header = try FileDescriptor(opening: path, .reading).read(at: 0, count: 100)
        } catch {
            throw .file(path: path, error)
        }
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw .notOurs(path: path, found: "it is not an SQLite database")
        }
        func number(_ at: Int) -> Int64 {
            header[at..<at + 4].reduce(0) { $0 << 8 | Int64($1) }
        }
        guard number(68) == Store.applicationID else {
            throw .notOurs(path: path, found: "it belongs to another program")
        }
        guard number(60) <= migrations.newest else {
            throw .newer(path: path, version: number(60), supported: migrations.newest)
        }
    }

    private func openChecked() throws(SQLiteError) -> Database {
        var isChecked = false
        if (Files.status(log)?.size ?? 0) == 0, !Files.exists(path + "-journal") {
            // Nobody is writing (we hold the lock of the state directory) and nothing waits to be
            // written back, so it can be read as a file that nobody changes.
            try check(Database(path: path, mode: .immutable, fileSystem: fileSystem))
            isChecked = true
        }
        let database = try Database(path: path, mode: .readWrite, fileSystem: fileSystem)
        try database.lockExclusively()
        if !isChecked {
            // Until it is known to be sound, what a killed daemon left in the log stays there.
            try database.keepLogOnClose(true)
            try check(database)
            try database.keepLogOnClose(false)
        }
        try database.setSynchronous(.full)
        return database
    }

    private func check(_ database: Database) throws(SQLiteError) {
        let findings = try database.findings(limit: 3)
        guard findings.isEmpty else { throw damage(findings.joined(separator: "; ")) }
        if try migrations.isDue(on: database) { return }
        do throws(SQLiteError) {
            _ = try database.prepare("SELECT section, key, body FROM records")
            _ = try database.prepare("SELECT id, at, app, body FROM history")
        } catch {
            throw damage(error.message)
        }
    }

    private func damage(_ found: String) -> SQLiteError {
        SQLiteError(
            extendedCode: SQLiteError.Code.corrupt.rawValue,
            operation: .step,
            message: found,
            subject: path
        )
    }
}
