import EventLoop
import GatewayCore
import Linux
import TLS
import Vocabulary
import Wire

/// One connection of a device: TLS, the frames that came, the bytes that wait to go.
final class DeviceConnection {
    enum Phase {
        /// TLS is being set up.
        case shakingHands
        /// The challenge was sent.
        case challenged
        case open
    }

    let id: LinkID
    let descriptor: FileDescriptor
    var session: TLSSession
    var source: DescriptorSource?
    var phase = Phase.shakingHands
    /// What a load balancer says first, until it is read.
    var header: ProxyHeader?
    var order: LinkGuard?
    var reader = FrameReader<DeviceFrame>()

    /// What waits to be sent, from `sent` on.
    private(set) var output: [UInt8] = []
    private var sent = 0
    private(set) var waitsForWriting = false
    var times = LinkTimes()
    /// The second for which it stands in the wheel.
    var listedAt: Int64 = 0
    var frames = FrameBudget()
    var isCongested = false
    var owesKeepAlive = false
    var isDirty = false
    var isEnding = false

    init(_ id: LinkID, _ descriptor: consuming FileDescriptor, _ context: TLSContext)
        throws(TLSError)
    {
        self.id = id
        let number = descriptor.number
        self.descriptor = descriptor
        session = try TLSSession(context, serving: number)
    }

    var waiting: Int { output.count - sent }

    func append(_ frame: GatewayFrame) { frame.encode(into: &output) }

    /// Sends what the connection takes now. False when the device is gone.
    func write(at second: Int64) throws(TLSError) -> Bool {
        // A span of a local array may be lent to the session.
        var bytes: [UInt8] = []
        swap(&bytes, &output)
        defer { swap(&bytes, &output) }
        while sent < bytes.count {
            switch try session.write(bytes.span.extracting(sent..<bytes.count)) {
            case .bytes(let count):
                sent += count
                times.takes(true, at: second)
            case .wantsWrite:
                times.takes(false, at: second)
                return try watch(forWriting: true)
            // Without renegotiation a write never waits for reading.
            case .wantsRead, .closed: return false
            }
        }
        bytes.removeAll(keepingCapacity: true)
        sent = 0
        times.takes(true, at: second)
        return try watch(forWriting: false)
    }

    // Idle connections keep no memory for what is sent: they share that of the server.

    func lend(_ memory: [UInt8]) { output = memory }

    /// Nil when it is used, or too much to be kept.
    func returnMemory() -> [UInt8]? {
        guard waiting == 0, output.capacity > 0 else { return nil }
        var memory: [UInt8] = []
        swap(&memory, &output)
        return memory.capacity <= 8192 ? memory : nil
    }

    /// During the handshake as well. False when the loop refuses.
    func watch(forWriting: Bool) throws(TLSError) -> Bool {
        guard forWriting != waitsForWriting else { return true }
        waitsForWriting = forWriting
        do {
            try source?.setEvents(forWriting ? [.readable, .writable] : .readable)
            return true
        } catch {
            return false
        }
    }
}
