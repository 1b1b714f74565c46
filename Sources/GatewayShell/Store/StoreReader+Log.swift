package import GatewayCore
import SQLite
import Vocabulary

/// What is known of pushes.
extension StoreReader {
    static let logColumns =
        "number, device, app, type, priority, size, assumed, id, provider, events"

    package func log(of number: PushNumber) throws(StorageError) -> LogRow? {
        try reading { () throws(SQLiteError) in
            defer { log.reset() }
            try log.bind(Int64(bitPattern: number.number), at: 1)
            return try log.step() ? try Self.row(log) : nil
        }
    }

    /// The newest that fit, newest first. Scans all pushes of the period: an index on another
    /// column would cost a write for each push.
    package func log(matching filter: LogFilter, limit: Int) throws(StorageError) -> [LogRow] {
        guard let numbers = filter.numbers else { return [] }
        return try reading { () throws(SQLiteError) in
            let statement = try database.prepare(
                """
                SELECT \(Self.logColumns) FROM log
                WHERE number BETWEEN ?1 AND ?2 AND (?3 IS NULL OR device = ?3)
                AND (?4 IS NULL OR app = ?4) AND (?5 IS NULL OR id = ?5)
                ORDER BY number DESC
                """
            )
            try statement.bind(Int64(clamping: numbers.lowerBound), at: 1)
            try statement.bind(Int64(clamping: numbers.upperBound), at: 2)
            if let device = filter.device {
                try statement.bind(Int64(bitPattern: device.number), at: 3)
            }
            if let app = filter.app { try statement.bind(Int64(app.number), at: 4) }
            if let id = filter.apnsID { try statement.bind(UUIDBytes.encode(id), at: 5) }
            var rows: [LogRow] = []
            while rows.count < limit, try statement.step() {
                if let row = try Self.row(statement), filter.fits(row) { rows.append(row) }
            }
            return rows
        }
    }

    private static func row(_ statement: borrowing Statement) throws(SQLiteError) -> LogRow? {
        guard let type = PushType(rawValue: UInt8(clamping: try statement.integer(at: 3))),
            let priority = PushPriority(rawValue: UInt8(clamping: try statement.integer(at: 4)))
        else { return nil }
        return LogRow(
            number: PushNumber(UInt64(clamping: try statement.integer(at: 0))),
            head: LogRow.Head(
                target: try target(statement),
                app: AppNumber(UInt32(clamping: try statement.integer(at: 2))),
                type: type,
                priority: priority,
                size: Int(try statement.integer(at: 5))
            ),
            events: LogBytes.decode(try statement.bytes(at: 9))
        )
    }

    private static func target(
        _ statement: borrowing Statement
    ) throws(SQLiteError) -> LogRow.Target {
        let device = UInt64(clamping: try statement.integer(at: 1))
        let (id, provider) = (try statement.bytes(at: 7), try statement.text(at: 8))
        if device == 0, let channel = ChannelID(bytes: id) {
            return .channel(channel, provider: provider)
        }
        let acceptance = Acceptance(
            apnsID: UUIDBytes.decode(id),
            provider: provider,
            isAssumedBackground: try statement.integer(at: 6) != 0
        )
        return .device(DeviceID(device), acceptance)
    }
}
