import Foundation
import SQLite

/// The posts, in SQLite: whatever ends the app, a feed's posts are all in it or none of them.
///
/// Belongs to one `Reader`.
final class FeedStore {
    private let database: Database

    init(_ path: String) throws {
        database = try Database(path: path, mode: .create)
        try database.setJournalMode(.wal)
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS feed(
                address TEXT PRIMARY KEY, tag TEXT, modified TEXT) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS post(
                feed TEXT NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL, link TEXT NOT NULL,
                published REAL NOT NULL, isNew INTEGER NOT NULL DEFAULT 1,
                listed INTEGER NOT NULL DEFAULT 1,
                PRIMARY KEY(feed, id)) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS cleaning(at REAL NOT NULL);
            """
        )
    }

    func version(of feed: String) throws -> FeedVersion? {
        let query = try database.prepare("SELECT tag, modified FROM feed WHERE address = ?")
        try query.bind(feed, at: 1)
        guard try query.step() else { return nil }
        return FeedVersion(
            tag: try query.isNull(at: 0) ? nil : query.text(at: 0),
            lastModified: try query.isNull(at: 1) ? nil : query.text(at: 1)
        )
    }

    /// How many of them were not known.
    func add(_ posts: [Post], of feed: String, _ version: FeedVersion) throws -> Int {
        try database.transaction { () throws(SQLiteError) in
            let before = try database.integer("SELECT count(*) FROM post") ?? 0
            let unlist = try database.prepare("UPDATE post SET listed = 0 WHERE feed = ?")
            try unlist.bind(feed, at: 1)
            try unlist.run()
            for post in posts {
                let insert = try database.prepare(
                    """
                    INSERT INTO post(feed, id, title, link, published) VALUES(?, ?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET listed = 1, title = excluded.title
                    """
                )
                try insert.bind(feed, at: 1)
                try insert.bind(post.id, at: 2)
                try insert.bind(post.title, at: 3)
                try insert.bind(post.link, at: 4)
                try insert.bind((post.published ?? Date()).timeIntervalSince1970, at: 5)
                try insert.run()
            }
            let after = try database.integer("SELECT count(*) FROM post") ?? 0
            let seen = try database.prepare("INSERT OR REPLACE INTO feed VALUES(?, ?, ?)")
            try seen.bind(feed, at: 1)
            try Self.bind(version.tag, at: 2, of: seen)
            try Self.bind(version.lastModified, at: 3, of: seen)
            try seen.run()
            return Int(after - before)
        }
    }

    private static func bind(
        _ text: String?,
        at index: Int32,
        of statement: borrowing Statement
    ) throws(SQLiteError) {
        if let text {
            try statement.bind(text, at: index)
        } else {
            try statement.bindNull(at: index)
        }
    }

    /// All posts, newest first; from now on they are old.
    func readAll() throws -> [Post] {
        var posts: [Post] = []
        let query = try database.prepare(
            "SELECT id, title, link, published, isNew FROM post ORDER BY published DESC, id"
        )
        while try query.step() {
            posts.append(
                Post(
                    id: try query.text(at: 0),
                    title: try query.text(at: 1),
                    link: try query.text(at: 2),
                    published: Date(timeIntervalSince1970: try query.double(at: 3)),
                    isNew: try query.integer(at: 4) != 0
                )
            )
        }
        try database.execute("UPDATE post SET isNew = 0 WHERE isNew")
        return posts
    }

    func lastCleaning() throws -> Date? {
        let query = try database.prepare("SELECT max(at) FROM cleaning")
        guard try query.step(), try !query.isNull(at: 0) else { return nil }
        return Date(timeIntervalSince1970: try query.double(at: 0))
    }

    /// How many posts went. What its feed still lists stays, or it would come back as new.
    func clean(olderThan date: Date) throws -> Int {
        let delete = try database.prepare(
            "DELETE FROM post WHERE published < ? AND NOT isNew AND NOT listed"
        )
        try delete.bind(date.timeIntervalSince1970, at: 1)
        try delete.run()
        let count = database.changes
        try database.execute("VACUUM")
        let note = try database.prepare("INSERT INTO cleaning VALUES(?)")
        try note.bind(Date().timeIntervalSince1970, at: 1)
        try note.run()
        return count
    }
}
