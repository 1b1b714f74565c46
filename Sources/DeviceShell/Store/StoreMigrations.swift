internal import DeviceCore
internal import SQLite
internal import Vocabulary

/// How what older versions have stored becomes what this one stores: one step a version. Steps are
/// never edited once released: a change of what is stored is a new step, at the end of the list.
///
/// The steps that are due are one transaction, which takes place only if all can be read after it:
/// whatever goes wrong, the version before is left, for the program that wrote it.
struct StoreMigrations {
    /// The step at index 0 makes version 1.
    let steps: [StoreStep]

    static let current = StoreMigrations(steps: [
        // (The last line of the history is never deleted, so that no id is given twice.)
        StoreStep(
            tables: """
                CREATE TABLE records (
                    section TEXT NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL,
                    PRIMARY KEY (section, key)
                ) WITHOUT ROWID;
                CREATE TABLE history (
                    id INTEGER PRIMARY KEY, at INTEGER NOT NULL, app TEXT NOT NULL,
                    body BLOB NOT NULL
                );
                CREATE INDEX history_of_app ON history (app, id);
                """
        ),
        StoreStep(bodies: [
            .rename("purse", to: "refreshBudget", in: .device),
            .rename("returns", to: "gaps", in: .device, at: "use"),
            .rename("purse", to: "scope", in: .app, at: "lastRun.decision"),
            .rename("moments", to: "gains", in: .app, at: "refresh"),
            .rename("returns", to: "gaps", in: .app, at: "refresh.use"),
            .rename("purse", to: "scope", in: .launch, at: "launch.wake.decision"),
            .respell("wished", as: "userInitiated", in: .launch, at: "launch.wake.mode"),
            .rename("purse", to: "scope", in: .line, at: "entry.wake._0.decision"),
            .rename("purse", to: "scope", in: .request, at: "request.decision"),
            .respell("wished", as: "userInitiated", in: .request, at: "request.mode"),
        ]),
        StoreStep(bodies: [
            .rename("kind", to: "trigger", in: .request, at: "request"),
            .remove("snapshot", in: .line, at: "entry.wake._0"),
        ]),
        // What is as in a new record is no longer written, and nothing more had to be.
        StoreStep(),
        StoreStep(bodies: [
            .gather(
                [("lastRefreshEnd", "refresh"), ("lastProcessingEnd", "processing")],
                of: "trigger",
                and: "at",
                into: "lastEnds",
                in: .app
            ),
            .remove("lastForeground", in: .launch, at: "launch"),
        ]),
        // Whether the device was unlocked since it booted: where nothing is said, it was not.
        StoreStep(),
        // Transfers are kept.
        StoreStep(),
        // Also those that are uploads; where nothing is said, it is a download.
        StoreStep(),
        // The most memory that a run had; where nothing is said, it may have been more.
        StoreStep(),
        // Low-data mode, when it is set by hand; a daemon of before knows no such condition. When
        // work joined a run; where nothing is said, it began with it.
        StoreStep(),
        // What uploads have sent, summed up; where nothing is said, nobody looks at it again. Tasks
        // that want no cookies; where nothing is said, they do.
        StoreStep(),
        // What was said of the files of which a part is there; where nothing is, the next answer
        // has to. A field of launches goes that was never set.
        StoreStep(bodies: [.remove("changed", in: .launch, at: "launch.probe")]),
        // Why the time of a delivery is over; where nothing is said, it has used it up.
        StoreStep(),
        // All the directories that a transfer was moved from, not one. The number of its file is
        // the transfer's, and no longer that of an attempt, of which it said the same.
        StoreStep(bodies: [
            .enlist("former", in: .transfer, at: "transfer", as: "formers"),
            .remove("inode", in: .transfer, at: "transfer.state.running._0"),
        ]),
        // Uploads by PATCH, of which a daemon of before knows nothing.
        StoreStep(),
    ])

    static var newest: Int64 { current.newest }
    var newest: Int64 { Int64(steps.count) }

    func isDue(on database: Database) throws(SQLiteError) -> Bool {
        Int64(try database.userVersion()) < newest
    }

    /// Takes the steps that are due; `path` is the database's, for messages.
    func run(on database: Database, path: String) throws(StoreError) {
        try transact(on: database, path, commits: true)
    }

    /// Takes them, and gives them up again: throws what would keep them from being taken.
    func rehearse(on database: Database, path: String) throws(StoreError) {
        try transact(on: database, path, commits: false)
    }

    private func transact(
        on database: Database,
        _ path: String,
        commits: Bool
    ) throws(StoreError) {
        var refusal: StoreError?
        var isDone = false
        do throws(SQLiteError) {
            try database.transaction { () throws(SQLiteError) in
                do throws(StoreError) {
                    try takeSteps(on: database, path)
                    isDone = true
                } catch {
                    refusal = error
                }
                if isDone && commits { return }
                throw SQLiteError(
                    extendedCode: SQLiteError.Code.error.rawValue,
                    operation: .step,
                    message: "the steps are given up",
                    subject: path
                )
            }
        } catch {
            if isDone && !commits { return }
            throw refusal ?? StoreError(error, path: path)
        }
    }

    private func takeSteps(on database: Database, _ path: String) throws(StoreError) {
        let rows = StoredRows(database, path: path)
        do throws(StoreError) {
            for step in steps[Int(try rows.version())...] {
                try rows.execute(step.tables)
                try rows.edit(step.bodies)
            }
            try rows.setVersion(newest)
            try rows.check()
        } catch .database(let path, let error) where error.code == .error {
            // SQL that is right for each database of that version.
            throw .corrupt(path: path, found: error.message)
        }
    }
}

/// What makes one version of the store into the next.
struct StoreStep: Sendable {
    /// Statements of SQL that change the tables.
    var tables = ""
    /// What changes the form of what is in them, in this order.
    var bodies: [BodyEdit] = []
}
