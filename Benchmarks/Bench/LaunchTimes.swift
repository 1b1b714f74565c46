import DeviceCore
import Linux
import TestKit
import Vocabulary

/// How long launches take, from the daemon's own event log as it grows: from the moment of the
/// event that decides a launch until the log has its exit. The log is written at the end of a turn,
/// when the exit has been committed and all that follows from it is done.
struct LaunchTimes: ~Copyable {
    private let file: FileDescriptor
    private let watch: Inotify
    private var offset: Int64 = 0
    private var unread: [UInt8] = []
    private var isHeader = true
    private var begun: [LaunchID: Moment] = [:]

    init(following path: String) throws {
        let watch = try Inotify()
        _ = try watch.add(path, .modified)
        let file = try FileDescriptor(opening: path, .reading)
        self.watch = watch
        self.file = file
    }

    /// Waits for the next exit; microseconds.
    mutating func next() throws -> Double {
        while true {
            let written = Clocks.now().awake
            if let begin = try readOn() {
                return Double((written - begin.awake).nanoseconds) / 1000
            }
            try Wait.until(readable: watch.descriptor.number, "the exit of a launch")
            _ = try watch.events()
        }
    }

    /// Reads what is new; when the launch was decided whose exit is in it.
    private mutating func readOn() throws -> Moment? {
        while true {
            let more = try file.read(at: offset, count: 1 << 20)
            if more.isEmpty { break }
            offset += Int64(more.count)
            unread += more
        }
        var ended: Moment?
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
            let entry = try ValueDecoder().decode(EventLog.Entry.self, from: value)
            guard case .event(let event, let moment, let decisions) = entry else { continue }
            for decision in decisions {
                if case .effect(.spawn(let id, _)) = decision { begun[id] = moment }
            }
            if case .process(let id, .exited) = event, let begin = begun[id] { ended = begin }
        }
        return ended
    }
}
