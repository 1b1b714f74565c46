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
    var ordered: (NetworkOrder, consuming FileDescriptor?) -> Void = { _, _ in }
    /// The daemon is gone, or has said what no daemon says.
    var lost: (String?) -> Void = { _ in }

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
                case .end: return lost(nil)
                case .message(let bytes, let file): ordered(try NetworkOrder(bytes), file)
                }
            }
        } catch {
            lost("\(error)")
        }
    }

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
            return lost(error.errno == .pipe ? nil : "\(error)")
        }
        waiting.removeFirst(sent)
        isBlocked = !waiting.isEmpty
        try source?.setEvents(isBlocked ? [.readable, .writable] : .readable)
    }
}
