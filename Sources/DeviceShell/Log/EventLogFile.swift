internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The event log on disk: this run's, and the piece before it. It is for replaying, never for
/// recovering: it is encoded and written when there is nothing better to do, without syncing, and a
/// full disk only ends it. So does a burst, such as the end of thousands of transfers: to log that
/// would take longer than all the rest. A new one begins when it is over.
struct EventLogFile: ~Copyable {
    /// Of what follows the header.
    static let sizeLimit: Int64 = 8 << 20
    /// So many pieces wait at most.
    static let patience = 256

    private enum Piece {
        case header(Device)
        case event(TimedEvent, [Effect])
        case rollback(count: Int)
    }

    private let path: String
    private let build: String
    private var file: FileDescriptor?
    private var waiting: [Piece] = []
    private var size: Int64 = 0
    /// Events since it ended in a burst, or since this was asked last; nil: it has not.
    private var missed: Int?

    init(directory: String, build: String) {
        path = directory + "/events.log"
        self.build = build
    }

    var isWaiting: Bool { !waiting.isEmpty || isBehind }
    /// It has ended in a burst. It is to be asked to go on a while later.
    var isBehind: Bool { missed != nil }
    /// What is written next would hold up the work that it belongs to.
    var isHeavy: Bool {
        guard case .event(_, let decisions)? = waiting.first else { return false }
        return decisions.contains { $0.changeCount > Self.patience }
    }

    /// Begins a new file with the device as it is now.
    mutating func begin(with device: Device) {
        flush()
        file = nil
        missed = nil
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

    mutating func append(_ event: TimedEvent, _ decisions: [Effect]) {
        append(.event(event, decisions))
    }

    mutating func appendRollback(of count: Int) { append(.rollback(count: count)) }

    private mutating func append(_ piece: Piece) {
        if let missed { self.missed = missed + 1 }
        guard file != nil else { return }
        waiting.append(piece)
        guard waiting.count > Self.patience else { return }
        file = nil
        (waiting, missed) = ([], 0)
    }

    /// Writes the piece that has waited longest: what happens meanwhile waits no longer. Begins a
    /// new file with `device` when this one is full, or when a burst is over.
    ///
    /// Returns how many bytes that took.
    @discardableResult
    mutating func writeNext(continuingWith device: Device) -> Int {
        if let missed {
            if missed < Self.patience { begin(with: device) } else { self.missed = 0 }
            return 0
        }
        let count = write(first: 1)
        if size >= Self.sizeLimit { begin(with: device) }
        return count
    }

    mutating func flush() { write(first: waiting.count) }

    @discardableResult
    private mutating func write(first count: Int) -> Int {
        guard !waiting.isEmpty else { return 0 }
        var bytes: [UInt8] = []
        do {
            for piece in waiting.prefix(count) { bytes += try encode(piece) }
            try file?.writeAll(bytes.span)
            if case .header = waiting.first {} else { size += Int64(bytes.count) }
            waiting.removeFirst(count)
            return bytes.count
        } catch {
            // A log with a hole would not replay.
            file = nil
            waiting.removeAll()
            return 0
        }
    }

    private func encode(_ piece: Piece) throws -> [UInt8] {
        switch piece {
        case .header(let device):
            return try EventLog.piece(EventLog.Header(build: build, device: device))
        case .event(let timed, let decisions):
            var logged: [EventLog.Decision] = []
            for effect in decisions { logged.append(try EventLog.Decision(effect)) }
            let entry = EventLog.Entry.event(
                timed.event,
                at: timed.moment,
                othersFollow: timed.othersFollow ? true : nil,
                decisions: logged
            )
            return try EventLog.piece(entry)
        case .rollback(let count):
            return try EventLog.piece(EventLog.Entry.rollback(count: count))
        }
    }
}

extension Effect {
    fileprivate var changeCount: Int {
        if case .save(let changes) = self { changes.count } else { 0 }
    }
}
