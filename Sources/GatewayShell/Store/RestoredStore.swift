import SQLite
import Vocabulary

/// A store that was taken from a backup does not know which numbers were given out after it.
///
/// Tokens hold numbers of devices and apps. A device that came after the backup still has its
/// tokens at its providers: were its number given to another device, that one would get its
/// pushes. So the copy in a backup bears a mark, and the first start on it goes on with numbers
/// that were never given.
enum RestoredStore {
    /// In the copy only. A program that does not know this table leaves it alone.
    static func mark(_ database: Database, at wall: WallTime) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            try database.execute("DROP TABLE IF EXISTS backup")
            try database.execute("CREATE TABLE backup (made INTEGER NOT NULL) STRICT")
            let made = try database.prepare("INSERT INTO backup VALUES (?)")
            try made.bind(wall.nanoseconds, at: 1)
            try made.run()
        }
    }

    /// Takes the mark away, and skips the numbers. They follow the clock, so that one backup may be
    /// restored twice: fewer devices come than microseconds pass, and fewer apps than seconds.
    static func adopt(_ database: Database, at wall: WallTime) throws(SQLiteError) {
        let isMarked = try database.integer(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'backup'"
        )
        guard isMarked != nil else { return }
        let made = try database.integer("SELECT made FROM backup") ?? 0
        guard wall.nanoseconds >= made, wall.nanoseconds / 1_000_000_000 < UInt32.max else {
            throw SQLiteError(
                extendedCode: 1,
                operation: .open,
                message: "the clock is before the time of the backup: set it, then serve",
                subject: "a restored store"
            )
        }
        let seconds = max(0, wall.nanoseconds / 1_000_000_000)
        let microseconds = max(0, wall.nanoseconds / 1000)
        try database.transaction { () throws(SQLiteError) in
            // As the rows of a device and an app that were removed.
            try insert(
                """
                INSERT INTO devices (id, key, since, seen)
                SELECT new, CAST('restored ' || new AS BLOB), 0, 9223372036854775807 FROM
                (SELECT max(?, (SELECT coalesce(max(id), 0) + 1 FROM devices)) AS new)
                """,
                microseconds,
                database
            )
            // They had no gateway to be seen by.
            try insert("UPDATE devices SET seen = max(seen, ?)", wall.nanoseconds, database)
            // A token has four bytes for an app.
            try insert(
                """
                INSERT INTO apps (number, bundle)
                SELECT new, ' ' || new FROM
                (SELECT max(?, (SELECT coalesce(max(number), 0) + 1 FROM apps)) AS new)
                WHERE new < 4294967295
                """,
                seconds,
                database
            )
            try database.execute("DROP TABLE backup")
        }
    }

    /// Devices with smaller numbers come from a backup.
    static func boundary(of database: Database) throws(SQLiteError) -> Int64 {
        try database.integer(
            """
            SELECT coalesce(max(id), 0) FROM devices
            WHERE key >= CAST('restored ' AS BLOB) AND key < CAST('restored!' AS BLOB)
            AND length(key) <> 32
            """
        ) ?? 0
    }

    private static func insert(
        _ text: String,
        _ number: Int64,
        _ database: Database
    ) throws(SQLiteError) {
        let statement = try database.prepare(text)
        try statement.bind(number, at: 1)
        try statement.run()
    }
}
