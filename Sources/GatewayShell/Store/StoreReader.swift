package import GatewayCore
import SQLite
import Vocabulary

/// Reads a gateway's file beside its writer: the loop's thread, or another process.
package final class StoreReader {
    let database: Database
    private let deviceWithKey: Statement
    private let seen: Statement
    private let registrations: Statement
    private let stored: Statement
    private let slot: Statement
    let log: Statement

    /// The file must exist, of the version that this program writes.
    package init(_ path: String) throws(StorageError) {
        do throws(SQLiteError) {
            database = try Database(path: path, mode: .readOnly, busyTimeout: 10_000)
            try StoreSchema.check(database, path)
            deviceWithKey = try database.prepare("SELECT id FROM devices WHERE key = ?")
            seen = try database.prepare(
                "SELECT seen FROM devices WHERE id = ? AND length(key) = 32"
            )
            registrations = try database.prepare(
                "SELECT app, generation, active, ended FROM registrations WHERE device = ?"
            )
            stored = try database.prepare(
                "SELECT app, place, number, expiration, collapse FROM slots WHERE device = ?"
            )
            slot = try database.prepare(
                """
                SELECT number, expiration, type, priority, silent, collapse, payload
                FROM slots WHERE device = ? AND app = ? AND place = ?
                """
            )
            log = try database.prepare("SELECT \(Self.logColumns) FROM log WHERE number = ?")
        } catch {
            throw StorageError(error, opening: path)
        }
    }

    func reading<Answer>(
        _ body: () throws(SQLiteError) -> Answer
    ) throws(StorageError) -> Answer {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw StorageError("\(error)")
        }
    }

    package func device(withKey key: [UInt8]) throws(StorageError) -> DeviceID? {
        try reading { () throws(SQLiteError) in
            defer { deviceWithKey.reset() }
            try deviceWithKey.bind(key, at: 1)
            guard try deviceWithKey.step() else { return nil }
            return DeviceID(UInt64(try deviceWithKey.integer(at: 0)))
        }
    }

    package func record(of device: DeviceID) throws(StorageError) -> StoredDevice {
        try reading { () throws(SQLiteError) in
            defer {
                seen.reset()
                registrations.reset()
                stored.reset()
            }
            var record = StoredDevice()
            try seen.bind(Int64(bitPattern: device.number), at: 1)
            record.isKnown = try seen.step()
            if record.isKnown { record.seen = WallTime(nanoseconds: try seen.integer(at: 0)) }
            try registrations.bind(Int64(bitPattern: device.number), at: 1)
            while try registrations.step() {
                record.registrations.append(
                    Registration(
                        app: AppNumber(UInt32(clamping: try registrations.integer(at: 0))),
                        generation: UInt16(clamping: try registrations.integer(at: 1)),
                        isActive: try registrations.integer(at: 2) != 0,
                        ended: EndedBytes.decode(try registrations.bytes(at: 3))
                    )
                )
            }
            try stored.bind(Int64(bitPattern: device.number), at: 1)
            while try stored.step() {
                let place = UInt8(clamping: try stored.integer(at: 1))
                record.stored.append(
                    StoredDevice.Stored(
                        app: AppNumber(UInt32(clamping: try stored.integer(at: 0))),
                        place: place,
                        number: PushNumber(UInt64(clamping: try stored.integer(at: 2))),
                        expiration: WallTime(nanoseconds: try stored.integer(at: 3)),
                        collapse: CollapseKey(try stored.bytes(at: 4), isWebPush: place != 0)
                    )
                )
            }
            return record
        }
    }

    package func push(in key: SlotKey) throws(StorageError) -> Push? {
        try reading { () throws(SQLiteError) in
            defer { slot.reset() }
            try slot.bind(Int64(bitPattern: key.device.number), at: 1)
            try slot.bind(Int64(key.app.number), at: 2)
            try slot.bind(Int64(key.place), at: 3)
            guard try slot.step(),
                let type = PushType(rawValue: UInt8(clamping: try slot.integer(at: 2))),
                let priority = PushPriority(rawValue: UInt8(clamping: try slot.integer(at: 3)))
            else { return nil }
            return Push(
                number: PushNumber(UInt64(clamping: try slot.integer(at: 0))),
                device: key.device,
                app: key.app,
                type: type,
                priority: priority,
                expiration: .until(WallTime(nanoseconds: try slot.integer(at: 1))),
                collapseID: try slot.bytes(at: 5),
                isSilent: try slot.integer(at: 4) != 0,
                payload: try slot.bytes(at: 6)
            )
        }
    }

    /// Pushes that expired by `now`, those that did so first in front.
    func expired(by now: WallTime, limit: Int) throws(StorageError) -> [ExpiredSlot] {
        try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                """
                SELECT device, app, place, number FROM slots WHERE expiration <= ?
                ORDER BY expiration LIMIT ?
                """
            )
            try statement.bind(now.nanoseconds, at: 1)
            try statement.bind(Int64(limit), at: 2)
            var expired: [ExpiredSlot] = []
            while try statement.step() {
                let device = DeviceID(UInt64(clamping: try statement.integer(at: 0)))
                let app = AppNumber(UInt32(clamping: try statement.integer(at: 1)))
                let place = UInt8(clamping: try statement.integer(at: 2))
                let number = PushNumber(UInt64(clamping: try statement.integer(at: 3)))
                expired.append(ExpiredSlot(SlotKey(device, app, place: place), number))
            }
            return expired
        }
    }

    /// Devices last seen before `cutoff`, the longest unseen in front.
    func devices(unseenSince cutoff: WallTime, limit: Int) throws(StorageError) -> [DeviceID] {
        try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                """
                SELECT id FROM devices WHERE seen < ? AND length(key) = 32 ORDER BY seen LIMIT ?
                """
            )
            try statement.bind(cutoff.nanoseconds, at: 1)
            try statement.bind(Int64(limit), at: 2)
            var devices: [DeviceID] = []
            while try statement.step() {
                devices.append(DeviceID(UInt64(clamping: try statement.integer(at: 0))))
            }
            return devices
        }
    }

    func knows(_ device: DeviceID) throws(StorageError) -> Bool {
        try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                "SELECT 1 FROM devices WHERE id = ? AND length(key) = 32"
            )
            try statement.bind(Int64(bitPattern: device.number), at: 1)
            return try statement.step()
        }
    }

    func has(_ app: AppNumber, _ bundle: String) throws(StorageError) -> Bool {
        try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                "SELECT 1 FROM apps WHERE number = ? AND bundle = ?"
            )
            try statement.bind(Int64(app.number), at: 1)
            try statement.bind(bundle, at: 2)
            return try statement.step()
        }
    }

    /// All apps, in the order of their numbers.
    package func apps() throws(StorageError) -> [(AppNumber, String)] {
        try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                "SELECT number, bundle FROM apps WHERE bundle NOT LIKE ' %' ORDER BY number"
            )
            var apps: [(AppNumber, String)] = []
            while try statement.step() {
                apps.append(
                    (
                        AppNumber(UInt32(clamping: try statement.integer(at: 0))),
                        try statement.text(at: 1)
                    )
                )
            }
            return apps
        }
    }

    /// Apps that no device has registered now, those that came first in front. Reads all
    /// registrations.
    func unusedApps(limit: Int) throws(StorageError) -> [AppNumber] {
        try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                """
                SELECT number FROM apps WHERE bundle NOT LIKE ' %' AND number NOT IN
                (SELECT app FROM registrations WHERE active = 1) ORDER BY number LIMIT ?
                """
            )
            try statement.bind(Int64(limit), at: 1)
            var apps: [AppNumber] = []
            while try statement.step() {
                apps.append(AppNumber(UInt32(clamping: try statement.integer(at: 0))))
            }
            return apps
        }
    }

    package func channels() throws(StorageError) -> [Channel] {
        try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                "SELECT id, app, keeps, number, expiration, priority, payload FROM channels"
            )
            var channels: [Channel] = []
            while try statement.step() {
                guard let id = ChannelID(bytes: try statement.bytes(at: 0)) else { continue }
                var newest: Broadcast?
                let number = UInt64(clamping: try statement.integer(at: 3))
                let priority = UInt8(clamping: try statement.integer(at: 5))
                if number > 0, let priority = PushPriority(rawValue: priority) {
                    newest = Broadcast(
                        number: PushNumber(number),
                        channel: id,
                        priority: priority,
                        expiration: .until(WallTime(nanoseconds: try statement.integer(at: 4))),
                        payload: try statement.bytes(at: 6)
                    )
                }
                channels.append(
                    Channel(
                        id: id,
                        app: AppNumber(UInt32(clamping: try statement.integer(at: 1))),
                        keepsNewest: try statement.integer(at: 2) != 0,
                        newest: newest
                    )
                )
            }
            return channels
        }
    }

    /// Devices behind `after`, in the order of their numbers.
    package func devices(after: UInt64, limit: Int) throws(StorageError) -> [ListedDevice] {
        try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                """
                SELECT id, key, since, seen,
                (SELECT count(*) FROM registrations WHERE device = id AND active = 1),
                (SELECT count(*) FROM slots WHERE device = id)
                FROM devices WHERE id > ? AND length(key) = 32 ORDER BY id LIMIT ?
                """
            )
            try statement.bind(Int64(bitPattern: after), at: 1)
            try statement.bind(Int64(limit), at: 2)
            var devices: [ListedDevice] = []
            while try statement.step() {
                devices.append(
                    ListedDevice(
                        id: DeviceID(UInt64(clamping: try statement.integer(at: 0))),
                        key: try statement.bytes(at: 1),
                        since: WallTime(nanoseconds: try statement.integer(at: 2)),
                        seen: WallTime(nanoseconds: try statement.integer(at: 3)),
                        apps: Int(try statement.integer(at: 4)),
                        stored: Int(try statement.integer(at: 5))
                    )
                )
            }
            return devices
        }
    }

    /// The largest numbers that were given: to devices, apps and pushes.
    package func largestNumbers() throws(StorageError) -> (
        device: UInt64, app: UInt32, push: UInt64
    ) {
        try reading { () throws(SQLiteError) in
            let device = try database.integer("SELECT coalesce(max(id), 0) FROM devices") ?? 0
            let push =
                try database.integer(
                    """
                    SELECT max((SELECT coalesce(max(number), 0) FROM log),
                    (SELECT coalesce(max(number), 0) FROM channels))
                    """
                ) ?? 0
            let app = try database.integer("SELECT coalesce(max(number), 0) FROM apps") ?? 0
            return (UInt64(clamping: device), UInt32(clamping: app), UInt64(clamping: push))
        }
    }

    /// Devices with smaller numbers were taken over from a backup; 0: none was.
    func lastRestored() throws(StorageError) -> DeviceID {
        try reading { () throws(SQLiteError) in
            DeviceID(UInt64(clamping: try RestoredStore.boundary(of: database)))
        }
    }
}
