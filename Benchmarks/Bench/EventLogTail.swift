import DeviceCore
import Linux
import Vocabulary

/// A daemon's event log, read on as it grows.
struct EventLogTail: ~Copyable {
    private let file: FileDescriptor
    private var offset: Int64 = 0
    private var unread: [UInt8] = []
    private var isHeader = true

    init(of path: String) throws {
        file = try FileDescriptor(opening: path, .reading)
    }

    /// What came since the last time, without the header.
    mutating func entries() throws -> [EventLog.Entry] {
        while true {
            let more = try file.read(at: offset, count: 1 << 20)
            if more.isEmpty { break }
            offset += Int64(more.count)
            unread += more
        }
        var entries: [EventLog.Entry] = []
        while unread.count >= 4 {
            let length = unread[..<4].reduce(0) { $0 << 8 | Int($1) }
            guard unread.count >= 4 + length else { break }
            let piece = Array(unread[4..<4 + length])
            unread.removeFirst(4 + length)
            guard !isHeader else {
                isHeader = false
                continue
            }
            let value = try ValueBytes.decode(piece, limit: EventLog.pieceLimit)
            entries.append(try ValueDecoder().decode(EventLog.Entry.self, from: value))
        }
        return entries
    }
}
