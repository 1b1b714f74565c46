internal import DeviceCore
internal import Linux
internal import Vocabulary

/// The event log on disk: this run's, and the piece before it. It is for replaying, never for
/// recovering, so it is written without syncing, and a full disk only ends it.
struct EventLogFile: ~Copyable {
    static let sizeLimit: Int64 = 8 << 20

    private let path: String
    private let build: String
    private var file: FileDescriptor?
    private var buffer: [UInt8] = []
    private var size: Int64 = 0

    init(directory: String, build: String) {
        path = directory + "/events.log"
        self.build = build
    }

    /// Begins a new file with the device as it is now.
    mutating func begin(with device: Device) {
        buffer.removeAll(keepingCapacity: true)
        file = nil
        // There may be none yet.
        try? Files.rename(path, to: path + ".1")
        guard let header = try? EventLog.piece(EventLog.Header(build: build, device: device)),
            let opened = try? FileDescriptor(
                opening: path,
                [.writing, .create, .truncate, .append],
                permissions: 0o600
            )
        else { return }
        file = consume opened
        size = 0
        buffer = header
    }

    mutating func append(_ entry: EventLog.Entry) {
        guard file != nil, let piece = try? EventLog.piece(entry) else { return }
        buffer.append(contentsOf: piece)
    }

    var isFull: Bool { size >= Self.sizeLimit }

    /// At the end of a turn: all of it in one write.
    mutating func flush() {
        guard !buffer.isEmpty else { return }
        do {
            try file?.writeAll(buffer.span)
            size += Int64(buffer.count)
        } catch {
            // A log with a hole would not replay.
            file = nil
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
