package import GatewayCore
package import SQLite
import Vocabulary

/// Writes batches into a gateway's file, on the one thread that owns it.
package struct StoreWriter: ~Copyable {
    private let database: Database
    private let addDevice: Statement
    private let noteSeen: Statement
    private let addApp: Statement
    private let saveRegistration: Statement
    private let store: Statement
    private let remove: Statement
    private let addLog: Statement
    /// The same for `rowsAtOnce`: what a statement costs beside its rows is paid once for them.
    private let addLogs: Statement
    private let extendLog: Statement

    package init(_ path: String, fileSystem: String?) throws(SQLiteError) {
        let database = try StoreSchema.open(path, fileSystem: fileSystem)
        let addDevice = try database.prepare("INSERT INTO devices VALUES (?1, ?2, ?3, ?3)")
        let noteSeen = try database.prepare("UPDATE devices SET seen = max(seen, ?) WHERE id = ?")
        let addApp = try database.prepare("INSERT OR REPLACE INTO apps VALUES (?, ?)")
        let saveRegistration = try database.prepare(
            "INSERT OR REPLACE INTO registrations VALUES (?, ?, ?, ?, ?)"
        )
        let store = try database.prepare(
            """
            INSERT INTO slots VALUES (?1, ?2, ?10, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (device, app, place) DO UPDATE SET number = ?3, expiration = ?4, type = ?5,
            priority = ?6, silent = ?7, collapse = ?8, payload = ?9 WHERE ?3 > number
            """
        )
        let remove = try database.prepare(
            "DELETE FROM slots WHERE device = ? AND app = ? AND place = ? AND number = ?"
        )
        let row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        let addLog = try database.prepare("INSERT INTO log VALUES \(row)")
        let rows = Array(repeating: row, count: Self.rowsAtOnce).joined(separator: ", ")
        let addLogs = try database.prepare("INSERT INTO log VALUES \(rows)")
        let extendLog = try database.prepare(
            "UPDATE log SET events = CAST(events || ?1 AS BLOB) WHERE number = ?2"
        )
        self.database = database
        self.addDevice = addDevice
        self.noteSeen = noteSeen
        self.addApp = addApp
        self.saveRegistration = saveRegistration
        self.store = store
        self.remove = remove
        self.addLog = addLog
        self.addLogs = addLogs
        self.extendLog = extendLog
    }

    /// All of it or nothing.
    package func write(_ batch: StoreBatch) throws(SQLiteError) {
        try database.transaction { () throws(SQLiteError) in
            for change in batch.changes { try write(change) }
            try write(batch.log)
        }
    }

    private func write(_ change: StoreBatch.Change) throws(SQLiteError) {
        switch change {
        case .device(let device, let key, let since):
            try addDevice.bind(Int64(device.number), at: 1)
            try addDevice.bind(key, at: 2)
            try addDevice.bind(since.nanoseconds, at: 3)
            try addDevice.run()
        case .seen(let device, let wall):
            try noteSeen.bind(wall.nanoseconds, at: 1)
            try noteSeen.bind(Int64(device.number), at: 2)
            try noteSeen.run()
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
        case .store(let push, let slot, let expiration):
            try store.bind(Int64(slot.device.number), at: 1)
            try store.bind(Int64(slot.app.number), at: 2)
            try store.bind(Int64(slot.place), at: 10)
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
            try remove.bind(Int64(slot.place), at: 3)
            try remove.bind(Int64(number.number), at: 4)
            try remove.run()
        case .channel, .removeChannel, .broadcast: try writeChannel(change)
        case .removeDevice(let device): try removeDevice(device)
        case .removeApp(let app, _, let withRest): try removeApp(app, withRest: withRest)
        case .probe: try database.setUserVersion(StoreSchema.version)
        }
    }

    /// Rarely. The largest number stays in a row of no app's, so that no other gets it: tokens that
    /// were given out hold it.
    private func removeApp(_ app: AppNumber, withRest: Bool) throws(SQLiteError) {
        var texts = [
            "DELETE FROM apps WHERE number = ? AND number < (SELECT max(number) FROM apps)",
            "UPDATE apps SET bundle = ' ' || number WHERE number = ?",
        ]
        if withRest {
            texts += ["registrations", "slots"].map { "DELETE FROM \($0) WHERE app = ?" }
        }
        try run(texts, Int64(app.number))
    }

    /// The largest number stays in a row of no device's, so that no other gets it.
    private func removeDevice(_ device: DeviceID) throws(SQLiteError) {
        let texts = [
            "DELETE FROM devices WHERE id = ? AND id < (SELECT max(id) FROM devices)",
            """
            UPDATE devices SET key = CAST('removed ' || id AS BLOB), seen = 9223372036854775807
            WHERE id = ?
            """,
        ]
        try run(texts, Int64(device.number))
    }

    private func run(_ texts: [String], _ number: Int64) throws(SQLiteError) {
        for text in texts {
            let statement = try database.prepare(text)
            try statement.bind(number, at: 1)
            try statement.run()
        }
    }

    /// Rarely: its statements are made each time.
    private func writeChannel(_ change: StoreBatch.Change) throws(SQLiteError) {
        switch change {
        case .channel(let channel):
            let add = try database.prepare(
                "INSERT INTO channels VALUES (?, ?, ?, 0, 0, 0, x'')"
            )
            try add.bind(channel.id.bytes, at: 1)
            try add.bind(Int64(channel.app.number), at: 2)
            try add.bind(channel.keepsNewest ? 1 : 0 as Int64, at: 3)
            try add.run()
        case .removeChannel(let id):
            let remove = try database.prepare("DELETE FROM channels WHERE id = ?")
            try remove.bind(id.bytes, at: 1)
            try remove.run()
        case .broadcast(let broadcast):
            guard case .until(let end) = broadcast.expiration else { return }
            let keep = try database.prepare(
                """
                UPDATE channels SET number = ?2, expiration = ?3, priority = ?4, payload = ?5
                WHERE id = ?1 AND number < ?2
                """
            )
            try keep.bind(broadcast.channel.bytes, at: 1)
            try keep.bind(Int64(broadcast.number.number), at: 2)
            try keep.bind(end.nanoseconds, at: 3)
            try keep.bind(Int64(broadcast.priority.rawValue), at: 4)
            try keep.bind(broadcast.payload, at: 5)
            try keep.run()
        case .device, .seen, .app, .registration, .store, .remove, .removeApp, .removeDevice,
            .probe:
            break
        }
    }

    private static let rowsAtOnce = 16
    private static let columns: Int32 = 10

    private func write(_ log: LogBatch) throws(SQLiteError) {
        // So many go together, the rest one by one.
        let together = log.acceptedCount / Self.rowsAtOnce * Self.rowsAtOnce
        var added = 0
        var events: [UInt8] = []
        try log.forEachPush { (number, head, lines) throws(SQLiteError) in
            events.removeAll(keepingCapacity: true)
            for line in lines { LogBytes.append(line.entry, to: &events) }
            guard let head else {
                try extendLog.bind(events, at: 1)
                try extendLog.bind(Int64(number.number), at: 2)
                return try extendLog.run()
            }
            if added < together {
                let row = added % Self.rowsAtOnce
                try bind(number, head, events, to: addLogs, at: Int32(row) * Self.columns)
                if row == Self.rowsAtOnce - 1 { try addLogs.run() }
            } else {
                try bind(number, head, events, to: addLog, at: 0)
                try addLog.run()
            }
            added += 1
        }
    }

    /// `start`: what is bound in front.
    private func bind(
        _ number: PushNumber,
        _ head: LogRow.Head,
        _ events: [UInt8],
        to statement: borrowing Statement,
        at start: Int32
    ) throws(SQLiteError) {
        try statement.bind(Int64(number.number), at: start + 1)
        switch head.target {
        case .device(let device, let acceptance):
            try statement.bind(Int64(device.number), at: start + 2)
            let isAssumed: Int64 = acceptance.isAssumedBackground ? 1 : 0
            try statement.bind(isAssumed, at: start + 7)
            try statement.bind(UUIDBytes.encode(acceptance.apnsID), at: start + 8)
        case .channel(let channel, _):
            try statement.bind(0 as Int64, at: start + 2)
            try statement.bind(0 as Int64, at: start + 7)
            try statement.bind(channel.bytes, at: start + 8)
        }
        try statement.bind(Int64(head.app.number), at: start + 3)
        try statement.bind(Int64(head.type.rawValue), at: start + 4)
        try statement.bind(Int64(head.priority.rawValue), at: start + 5)
        try statement.bind(Int64(head.size), at: start + 6)
        try statement.bind(head.provider, at: start + 9)
        try statement.bind(events, at: start + 10)
    }

    /// Removes lines of the log from before `oldest`, at most `limit`; how many there were. The
    /// newest line stays, because new pushes are numbered from it.
    func sweep(oldestLog: PushNumber, limit: Int) throws(SQLiteError) -> Int {
        try database.transaction { () throws(SQLiteError) in
            let forget = try database.prepare(
                """
                DELETE FROM log WHERE number IN
                (SELECT number FROM log WHERE number < ?1
                AND number < (SELECT max(number) FROM log) ORDER BY number LIMIT ?2)
                """
            )
            try forget.bind(Int64(oldestLog.number), at: 1)
            try forget.bind(Int64(limit), at: 2)
            try forget.run()
            return database.changes
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
        unsafe [UInt8](unsafeUninitializedCapacity: 16) { bytes, count in
            let raw = UnsafeMutableRawBufferPointer(bytes)
            unsafe raw.storeBytes(of: uuid.high.bigEndian, as: UInt64.self)
            unsafe raw.storeBytes(of: uuid.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            count = 16
        }
    }

    static func decode(_ bytes: [UInt8]) -> PushUUID {
        PushUUID(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        )
    }
}
