import EventLoop
import Linux
import Vocabulary
import Wire

/// The socket to the daemon. Orders are read as they come; reports wait while the daemon does not
/// read, at most a few for each exchange.
@safe
final class DaemonLink {
    private let socket: PacketSocket
    private var source: DescriptorSource?
    private var waiting: [[UInt8]] = []
    /// The daemon does not read: what can be told later is not told now.
    private(set) var isBlocked = false
    /// All that there was to read has been read.
    private var isOver = false
    var ordered: (NetworkOrder, consuming FileDescriptor?) -> Void = { _, _ in }
    /// No more orders come. Called again when the daemon itself is gone.
    var ended: () -> Void = {}
    /// The daemon has said what no daemon says.
    var lost: (String) -> Void = { _ in }

    init(_ loop: EventLoop, _ socket: consuming PacketSocket) throws(LinuxError) {
        let number = socket.descriptor.number
        self.socket = socket
        source = try DescriptorSource(loop, number, .readable) { [unowned self] in
            if $0.contains(.writable) { isBlocked = false }
            if $0 != .writable { read() }
        }
    }

    private func read() {
        do {
            for _ in 0..<64 {
                switch try socket.receive() {
                case .nothing: return
                case .end:
                    isOver = true
                    try watch()
                    return ended()
                case .message(let bytes, let file): ordered(try NetworkOrder(bytes), file)
                }
            }
        } catch {
            lost("\(error)")
        }
    }

    private func watch() throws(LinuxError) {
        var events: DescriptorSource.Events = isOver ? [] : .readable
        if isBlocked { events.insert(.writable) }
        try source?.setEvents(events)
    }

    /// Nothing waits to be sent.
    var isEmpty: Bool { waiting.isEmpty }

    func report(_ report: NetworkReport) throws(NetworkError) {
        waiting.append(try report.bytes())
    }

    /// Sends what waits.
    func flush() throws(LinuxError) {
        guard !isBlocked, !waiting.isEmpty else { return }
        var sent = 0
        do throws(LinuxError) {
            while sent < waiting.count, try socket.send(waiting[sent]) { sent += 1 }
        } catch {
            return error.errno == .pipe ? ended() : lost("\(error)")
        }
        waiting.removeFirst(sent)
        isBlocked = !waiting.isEmpty
        try watch()
    }
}
