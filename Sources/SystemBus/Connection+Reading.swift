import CSystemd
internal import EventLoop
internal import Glibc
import Linux
import Vocabulary

/// What sd-bus is let read.
///
/// It takes memory for a whole message, up to 128 MB, as soon as it has read how long it is to be.
/// So the length is looked at first, in the socket, and sd-bus is called only while what it can
/// read is known: it reads to the end of one message and no further. That of a message which is not
/// all there yet the kernel counts along: the offset for peeking shrinks by what is read.
extension Connection {
    /// Where in the stream sd-bus is.
    enum Position {
        /// Before a message.
        case between
        /// Before one of which too little is there to know its length.
        case beforeLength
        /// In a message; the kernel counts down to its end.
        case inside
    }

    private enum Next {
        case nothing, beginning, whole, end, unsuitable
        case part(Int)
    }

    /// As far as a message is looked at; one that is longer is counted along.
    private static let view = 2048
    /// Of a message, up to its length; and the least that a message can have, which is also what
    /// sd-bus asks for before it knows the length.
    private static let headerSize = 16
    private static let leastMessage = 24

    /// Has the loop do the work from now on.
    func serve(_ loop: EventLoop) throws(BusError) {
        bus.keep(loop)
        source = try failing("watch") { () throws(LinuxError) in
            try SingleSource(loop, descriptor, .readable) { [unowned self] in ready($0) }
        }
    }

    private func ready(_ events: DescriptorSource.Events) {
        if state == .authenticating { return shakeHands() }
        guard state == .open else { return }
        guard position != .inside else { return work(counting: true) }
        switch next() {
        case .whole: work(counting: false)
        case .part(let size):
            position = .inside
            server.began(self, size)
            setPeekOffset(size)
            work(counting: true)
        case .nothing:
            guard !events.isSubset(of: .readable) else { return }
            // To write. Should a message come at this moment, its length would not be known.
            setPeekOffset(1)
            work(counting: true)
        case .end: work(counting: false)
        case .beginning where !events.contains(.hangUp):
            position = .beforeLength
            watch()
        case .beginning, .unsuitable: end()
        }
    }

    /// Looks at the beginning of the next message.
    private func next() -> Next {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.view, alignment: 8) { buffer in
            let count = unsafe recv(descriptor, buffer.baseAddress, Self.view, Self.peek)
            guard count > 0 else { return count < 0 && errno == EAGAIN ? .nothing : .end }
            guard count >= Self.headerSize else { return .beginning }
            let isBig = unsafe buffer[0] == UInt8(ascii: "B")
            guard unsafe isBig || buffer[0] == UInt8(ascii: "l") else { return .unsuitable }
            func number(at offset: Int) -> Int {
                let bytes = unsafe buffer.load(fromByteOffset: offset, as: UInt32.self)
                return Int(isBig ? UInt32(bigEndian: bytes) : UInt32(littleEndian: bytes))
            }
            let size = Self.headerSize + (number(at: 12) + 7) / 8 * 8 + number(at: 4)
            guard size >= Self.leastMessage, size <= server.limits.messageBytes else {
                return .unsuitable
            }
            return count >= size ? .whole : .part(size)
        }
    }

    private static let peek = Int32(MSG_PEEK | MSG_DONTWAIT)

    /// Lets sd-bus write or read one message, or as much of it as there is.
    private func work(counting: Bool) {
        let (queued, sent) = (bus.queuedMessages, sentMessages)
        hasDelivered = false
        let code = bus.isOpen ? unsafe sd_bus_process(bus.handle, nil) : 0
        if code < 0 { end() }
        if !bus.isOpen { sayFarewell() }
        guard state != .closed else { return }
        // It reads nothing after it has written a whole message.
        let hasPassed = counting ? isPassed : bus.queuedMessages >= queued
        // It has read to the end of a message, dropped that unseen, and may have begun another.
        if hasPassed, !hasDelivered { return end() }
        if counting, hasPassed || position != .inside { setPeekOffset(-1) }
        if hasPassed, position == .inside { server.finished(self) }
        if hasPassed || position != .inside { position = .between }
        // What it answers itself nobody else counts.
        let own = bus.queuedMessages - queued - (sentMessages - sent)
        checkQueue(size: max(0, own) * Self.ownAnswer)
    }

    /// Lets sd-bus tell those who wait for an answer that there will be none, then us.
    private func sayFarewell() {
        // It closes the descriptor before it tells us.
        try? source?.setEnabled(false)
        while state != .closed {
            if unsafe sd_bus_process(bus.handle, nil) <= 0 { end() }
        }
    }

    /// About the bytes of what sd-bus answers itself: mostly descriptions of our objects.
    private static let ownAnswer = 16 << 10

    /// Waits for what there is to wait for.
    func watch() {
        let events: DescriptorSource.Events =
            switch (position, bus.queuedMessages) {
            // Not told again of what is there. Nothing is written before the rest has come: sd-bus
            // would read as well.
            case (.beforeLength, _): [.readable, .onChange]
            case (_, 0): .readable
            default: [.readable, .writable]
            }
        do throws(LinuxError) {
            try source?.setEvents(events)
        } catch {
            end()
        }
    }

    // MARK: The kernel's count

    private func setPeekOffset(_ offset: Int) {
        var offset = Int32(offset)
        let size = socklen_t(MemoryLayout<Int32>.size)
        let code = unsafe setsockopt(descriptor, SOL_SOCKET, SO_PEEK_OFF, &offset, size)
        if code < 0 { end() }
    }

    /// Whether sd-bus has read as far as was set.
    private var isPassed: Bool {
        var offset: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        let code = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEEK_OFF, &offset, &size)
        return code < 0 || offset == 0
    }

    // MARK: Before the first message

    /// Takes of the handshake what is there, and no byte behind it.
    private func shakeHands() {
        unsafe withUnsafeTemporaryAllocation(byteCount: Self.view, alignment: 1) { buffer in
            let there = unsafe recv(descriptor, buffer.baseAddress, Self.view, Self.peek)
            guard there > 0 else {
                if there == 0 || errno != EAGAIN { end() }
                return
            }
            let (taken, outcome) = unsafe handshake.take(UnsafeRawBufferPointer(buffer)[..<there])
            guard unsafe recv(descriptor, buffer.baseAddress, taken, 0) == taken,
                outcome != .failed, answer(handshake.takeAnswers())
            else { return end() }
            if outcome == .done { open() }
        }
    }

    private func answer(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            // There is room for so little, unless the peer is up to something.
            return unsafe bytes.isEmpty
                || Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags) == bytes.count
        }
    }
}

/// Runs something of the system, whose errors are those of a connection here.
func failing<Answer: ~Copyable>(
    _ operation: String,
    _ body: () throws(LinuxError) -> Answer
) throws(BusError) -> Answer {
    do throws(LinuxError) {
        return try body()
    } catch {
        throw BusError(-error.errno.number, operation, error.operation)
    }
}
