import GatewayCore
import SQLite

/// The tables of a gateway's file, and what they were before.
enum StoreSchema {
    /// `Ofsg`, so that `file` and we know whose it is.
    static let applicationID: Int32 = 0x4F66_7367
    static let version: Int32 = 4

    /// A row of `devices` whose key has not 32 bytes is that of a device that was removed.
    /// A row of `log` with device 0 is a broadcast's, and its `id` that of the channel.
    private static let tables = """
        CREATE TABLE devices (
            id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, since INTEGER NOT NULL,
            seen INTEGER NOT NULL DEFAULT 0) STRICT;
        CREATE INDEX devices_by_seen ON devices (seen);
        CREATE TABLE apps (number INTEGER PRIMARY KEY, bundle TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE registrations (
            device INTEGER NOT NULL, app INTEGER NOT NULL, generation INTEGER NOT NULL,
            active INTEGER NOT NULL, ended BLOB NOT NULL,
            PRIMARY KEY (device, app)) STRICT, WITHOUT ROWID;
        CREATE TABLE log (
            number INTEGER PRIMARY KEY, device INTEGER NOT NULL, app INTEGER NOT NULL,
            type INTEGER NOT NULL, priority INTEGER NOT NULL, size INTEGER NOT NULL,
            assumed INTEGER NOT NULL, id BLOB NOT NULL, provider TEXT NOT NULL,
            events BLOB NOT NULL) STRICT;
        """

    /// Since version 2. `number` 0: there is no newest message.
    private static let channels = """
        CREATE TABLE channels (
            id BLOB PRIMARY KEY, app INTEGER NOT NULL, keeps INTEGER NOT NULL,
            number INTEGER NOT NULL, expiration INTEGER NOT NULL, priority INTEGER NOT NULL,
            payload BLOB NOT NULL) STRICT;
        """

    /// Since version 3. Who is there already is taken for seen now.
    private static let seen = """
        ALTER TABLE devices ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;
        UPDATE devices SET seen = CASE length(key) WHEN 32
            THEN CAST(strftime('%s', 'now') AS INTEGER) * 1000000000
            ELSE 9223372036854775807 END;
        CREATE INDEX devices_by_seen ON devices (seen);
        """

    /// With places since version 4.
    private static let slots = """
        CREATE TABLE slots (
            device INTEGER NOT NULL, app INTEGER NOT NULL, place INTEGER NOT NULL,
            number INTEGER NOT NULL, expiration INTEGER NOT NULL, type INTEGER NOT NULL,
            priority INTEGER NOT NULL, silent INTEGER NOT NULL, collapse BLOB NOT NULL,
            payload BLOB NOT NULL, UNIQUE (device, app, place)) STRICT;
        CREATE INDEX slots_by_expiration ON slots (expiration);
        """

    /// What was kept of Web Push becomes the first of several.
    private static let places = """
        ALTER TABLE slots RENAME TO old_slots;
        DROP INDEX slots_by_expiration;
        \(slots)
        INSERT INTO slots SELECT device, app, CASE type WHEN \(PushType.webpush.rawValue)
            THEN 1 ELSE 0 END, number, expiration, type, priority, silent, collapse, payload
            FROM old_slots;
        DROP TABLE old_slots;
        """

    /// Opens the file for its one writer, making it if there is none.
    static func open(_ path: String, fileSystem: String?) throws(SQLiteError) -> Database {
        let database = try Database(
            path: path,
            mode: .create,
            fileSystem: fileSystem,
            busyTimeout: 10_000
        )
        try database.setJournalMode(.wal)
        try database.setSynchronous(.full)
        // Larger checkpoints: a slot that changes often is written back once.
        try database.setPagesBetweenCheckpoints(8000)
        let version = try database.userVersion()
        if version == 0 {
            try database.transaction { () throws(SQLiteError) in
                try database.execute(tables + slots + channels)
                try database.setApplicationID(applicationID)
                try database.setUserVersion(Self.version)
            }
            return database
        }
        let id = try database.applicationID()
        if (1..<Self.version).contains(version), id == applicationID {
            try database.transaction { () throws(SQLiteError) in
                if version < 2 { try database.execute(channels) }
                if version < 3 { try database.execute(seen) }
                if version < 4 { try database.execute(places) }
                try database.setUserVersion(Self.version)
            }
            return database
        }
        try check(database, path)
        return database
    }

    /// Throws unless it is a gateway's file of this version; or of an older one, if that will do.
    static func check(
        _ database: borrowing Database,
        _ path: String,
        orOlder: Bool = false
    ) throws(SQLiteError) {
        let version = try database.userVersion()
        let isOurs = try database.applicationID() == applicationID
        if isOurs, version == Self.version || orOlder && (1..<Self.version).contains(version) {
            return
        }
        let message =
            !isOurs
            ? "not a gateway's file"
            : version > Self.version
                ? "written by a newer offstage-gateway (version \(version) of the file, this "
                    + "program writes \(Self.version))"
                : "of version \(version); \"offstage-gateway serve\" brings it up to date"
        throw SQLiteError(extendedCode: 26, operation: .open, message: message, subject: path)
    }
}
