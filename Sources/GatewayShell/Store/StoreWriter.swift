import GatewayCore
package import SQLite
import Vocabulary

/// Writes batches into a gateway's file, on the one thread that owns it.
package struct StoreWriter: ~Copyable {
    private let database: Database
    private let addDevice: Statement
    private let addApp: Statement
    private let saveRegistration: Statement
    private let store: Statement
    private let remove: Statement
    private let addLog: Statement
    private let extendLog: Statement

    package init(_ path: String, fileSystem: String?) throws(SQLiteError) {
        let database = try StoreSchema.open(path, fileSystem: fileSystem)
        let addDevice = try database.prepare("INSERT INTO devices VALUES (?, ?, ?)")
        let addApp = try database.prepare("INSERT INTO apps VALUES (?, ?)")
        let saveRegistration = try database.prepare(
            "INSERT OR REPLACE INTO registrations VALUES (?, ?, ?, ?, ?)"
        )
        let store = try database.prepare(
            """
            INSERT INTO slots VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (device, app) DO UPDATE SET number = ?3, expiration = ?4, type = ?5,
            priority = ?6, silent = ?7, collapse = ?8, payload = ?9 WHERE ?3 > number
            """
        )
        let remove = try database.prepare(
            "DELETE FROM slots WHERE device = ? AND app = ? AND number = ?"
        )
        let addLog = try database.prepare("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        let extendLog = try database.prepare(
            "UPDATE log SET events = CAST(events || ?1 AS BLOB) WHERE number = ?2"
        )
        self.database = database
        self.addDevice = addDevice
        self.addApp = addApp
        self.saveRegistration = saveRegistration
        self.store = store
        self.remove = remove
        self.addLog = addLog
        self.extendLog = extendLog
    }

    /// All of it or nothing.
    package func write(_ batch: StoreBatch) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            for change in batch.changes { try write(change) }
            for row in batch.log.rows { try write(row) }
        }
    }

    private func write(_ change: StoreBatch.Change) throws(SQLiteError) {
        switch change {
        case .device(let device, let key, let since):
            try addDevice.bind(Int64(device.number), at: 1)
            try addDevice.bind(key, at: 2)
            try addDevice.bind(since.nanoseconds, at: 3)
            try addDevice.run()
        case .app(let app, let bundle):
            try addApp.bind(Int64(app.number), at: 1)
            try addApp.bind(bundle, at: 2)
            try addApp.run()
        case .registration(let device, let registration):
            try saveRegistration.bind(Int64(device.number), at: 1)
            try saveRegistration.bind(Int64(registration.app.number), at: 2)
            try saveRegistration.bind(Int64(registration.generation), at: 3)
            try saveRegistration.bind(registration.isActive ? 1 : 0 as Int64, at: 4)
            try saveRegistration.bind(EndedBytes.encode(registration.ended), at: 5)
            try saveRegistration.run()
        case .store(let push, let expiration):
            try store.bind(Int64(push.device.number), at: 1)
            try store.bind(Int64(push.app.number), at: 2)
            try store.bind(Int64(push.number.number), at: 3)
            try store.bind(expiration.nanoseconds, at: 4)
            try store.bind(Int64(push.type.rawValue), at: 5)
            try store.bind(Int64(push.priority.rawValue), at: 6)
            try store.bind(push.isSilent ? 1 : 0 as Int64, at: 7)
            try store.bind(push.collapseID, at: 8)
            try store.bind(push.payload, at: 9)
            try store.run()
        case .remove(let slot, let number):
            try remove.bind(Int64(slot.device.number), at: 1)
            try remove.bind(Int64(slot.app.number), at: 2)
            try remove.bind(Int64(number.number), at: 3)
            try remove.run()
        }
    }

    private func write(_ row: LogRow) throws(SQLiteError) {
        let events = LogBytes.encode(row.events)
        guard let head = row.head else {
            try extendLog.bind(events, at: 1)
            try extendLog.bind(Int64(row.number.number), at: 2)
            return try extendLog.run()
        }
        try addLog.bind(Int64(row.number.number), at: 1)
        try addLog.bind(Int64(head.device.number), at: 2)
        try addLog.bind(Int64(head.app.number), at: 3)
        try addLog.bind(Int64(head.type.rawValue), at: 4)
        try addLog.bind(Int64(head.priority.rawValue), at: 5)
        try addLog.bind(Int64(head.size), at: 6)
        try addLog.bind(head.acceptance.isAssumedBackground ? 1 : 0 as Int64, at: 7)
        try addLog.bind(UUIDBytes.encode(head.acceptance.apnsID), at: 8)
        try addLog.bind(head.acceptance.provider, at: 9)
        try addLog.bind(events, at: 10)
        try addLog.run()
    }

    /// Removes stored pushes that expired by `now`, at most `limit`, with a line in the log each;
    /// how many there were. Also lines of the log from before `oldest`.
    func sweep(now: WallTime, oldestLog: PushNumber, limit: Int) throws(SQLiteError) -> Int {
        try database.transaction { () throws(SQLiteError) in
            let expired = try database.prepare(
                """
                DELETE FROM slots WHERE rowid IN
                (SELECT rowid FROM slots WHERE expiration <= ?1 LIMIT ?2) RETURNING number
                """
            )
            try expired.bind(now.nanoseconds, at: 1)
            try expired.bind(Int64(limit), at: 2)
            var numbers: [Int64] = []
            while try expired.step() { numbers.append(try expired.integer(at: 0)) }
            let event = LogBytes.encode([LogRow.Entry(event: .expired, at: now)])
            for number in numbers {
                try extendLog.bind(event, at: 1)
                try extendLog.bind(number, at: 2)
                try extendLog.run()
            }
            let forget = try database.prepare(
                """
                DELETE FROM log WHERE number IN
                (SELECT number FROM log WHERE number < ?1 ORDER BY number LIMIT ?2)
                """
            )
            try forget.bind(Int64(oldestLog.number), at: 1)
            try forget.bind(Int64(limit), at: 2)
            try forget.run()
            return max(numbers.count, database.changes)
        }
    }
}

/// The ends of earlier tokens: generation and time, 10 bytes each.
enum EndedBytes {
    static func encode(_ ended: [Registration.Ended]) -> [UInt8] {
        var bytes: [UInt8] = []
        for end in ended {
            bytes.append(number: end.generation)
            bytes.append(number: UInt64(bitPattern: end.at.nanoseconds))
        }
        return bytes
    }

    static func decode(_ bytes: [UInt8]) -> [Registration.Ended] {
        stride(from: 0, to: bytes.count - 9, by: 10).map { start in
            let generation = UInt16(bytes[start]) << 8 | UInt16(bytes[start + 1])
            let time = bytes[(start + 2)..<(start + 10)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Registration.Ended(
                generation: generation,
                at: WallTime(nanoseconds: Int64(bitPattern: time))
            )
        }
    }
}

enum UUIDBytes {
    static func encode(_ uuid: PushUUID) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: uuid.high)
        bytes.append(number: uuid.low)
        return bytes
    }

    static func decode(_ bytes: [UInt8]) -> PushUUID {
        PushUUID(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        )
    }
}
