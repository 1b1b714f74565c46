internal import SQLite

/// How databases of older versions become those of this one: one step a version, each in a
/// transaction of its own, so that a crash leaves a whole version behind. Steps are never edited
/// once released; a new version is a new step. (The last line of the history is never deleted, so
/// that no id is given twice.)
enum StoreMigrations {
    /// The step at index 0 makes version 1.
    private static let steps: [String] = [
        """
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
    ]

    static var newest: Int64 { Int64(steps.count) }

    static func isDue(on database: Database) throws(SQLiteError) -> Bool {
        Int64(try database.userVersion()) < newest
    }

    static func run(on database: Database) throws(SQLiteError) {
        var version = Int(try database.userVersion())
        while version < steps.count {
            let step = steps[version]
            try database.transaction { () throws(SQLiteError) in
                try database.setApplicationID(Int32(Store.applicationID))
                try database.execute(step)
                try database.setUserVersion(Int32(version + 1))
            }
            version += 1
        }
    }
}
