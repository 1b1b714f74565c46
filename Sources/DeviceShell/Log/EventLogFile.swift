internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The event log on disk: this run's, and the piece before it. It is for replaying, never for
/// recovering: it is encoded and written when there is nothing better to do, without syncing, and a
/// full disk only ends it.
struct EventLogFile: ~Copyable {
    static let sizeLimit: Int64 = 8 << 20
    /// So many pieces wait at most.
    static let patience = 256

    private enum Piece {
        case header(Device)
        case event(Event, at: Moment, [Effect])
        case rollback(count: Int)
    }

    private let path: String
    private let build: String
    private var file: FileDescriptor?
    private var waiting: [Piece] = []
    private var size: Int64 = 0

    init(directory: String, build: String) {
        path = directory + "/events.log"
        self.build = build
    }

    var isWaiting: Bool { !waiting.isEmpty }
    var mustNotWait: Bool { waiting.count >= Self.patience }

    /// Begins a new file with the device as it is now.
    mutating func begin(with device: Device) {
        flush()
        file = nil
        // There may be none yet.
        try? Files.rename(path, to: path + ".1")
        guard
            let opened = try? FileDescriptor(
                opening: path,
                [.writing, .create, .truncate, .append],
                permissions: 0o600
            )
        else { return }
        file = consume opened
        size = 0
        waiting = [.header(device)]
    }

    mutating func append(_ event: Event, at moment: Moment, _ decisions: [Effect]) {
        guard file != nil else { return }
        waiting.append(.event(event, at: moment, decisions))
    }

    mutating func appendRollback(of count: Int) {
        guard file != nil else { return }
        waiting.append(.rollback(count: count))
    }

    /// Writes what waits, at once; begins a new file with `device` when this one is full.
    mutating func flush(continuingWith device: Device) {
        flush()
        if size >= Self.sizeLimit { begin(with: device) }
    }

    /// The same of the piece that has waited longest: what happens meanwhile waits no longer.
    mutating func writeNext(continuingWith device: Device) {
        write(first: 1)
        if size >= Self.sizeLimit { flush(continuingWith: device) }
    }

    mutating func flush() { write(first: waiting.count) }

    private mutating func write(first count: Int) {
        guard !waiting.isEmpty else { return }
        var bytes: [UInt8] = []
        do {
            for piece in waiting.prefix(count) { bytes += try encode(piece) }
            try file?.writeAll(bytes.span)
            size += Int64(bytes.count)
            waiting.removeFirst(count)
        } catch {
            // A log with a hole would not replay.
            file = nil
            waiting.removeAll()
        }
    }

    private func encode(_ piece: Piece) throws -> [UInt8] {
        switch piece {
        case .header(let device):
            return try EventLog.piece(EventLog.Header(build: build, device: device))
        case .event(let event, let moment, let decisions):
            var logged: [EventLog.Decision] = []
            for effect in decisions { logged.append(try EventLog.Decision(effect)) }
            return try EventLog.piece(EventLog.Entry.event(event, at: moment, decisions: logged))
        case .rollback(let count):
            return try EventLog.piece(EventLog.Entry.rollback(count: count))
        }
    }
}
