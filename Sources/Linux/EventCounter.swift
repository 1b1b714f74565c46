internal import CLinux
internal import Glibc

/// A counter of the kernel (eventfd) by which one thread wakes another: whoever waits polls the
/// descriptor for reading. Any thread may signal it.
package struct EventCounter: ~Copyable, Sendable {
    package let descriptor: FileDescriptor

    package init() throws(LinuxError) {
        descriptor = FileDescriptor(owning: try check(clinux_eventfd(), "eventfd"))
    }

    /// Makes the descriptor readable until the next `clear()`.
    package func signal() {
        // Fails only when nobody has read for 2^64 calls: then it is readable.
        _ = clinux_ring(descriptor.number)
    }

    /// Makes it unreadable. It is cleared before the work is looked for, so that none is missed.
    package func clear() {
        _ = try? descriptor.readAvailable(upTo: 8)
    }

    /// Is signalled at each of this signal from now on, instead of what the signal does otherwise;
    /// once per process, since a handler can know only one counter. Programs that this process
    /// starts are not concerned.
    package func signal(at signal: Int32) throws(LinuxError) {
        try check(
            clinux_ring_on_signal(signal, descriptor.number),
            "sigaction",
            Signal.name(signal)
        )
    }
}

extension CurrentProcess {
    /// The signal does again what it does by itself, and is sent to this process.
    package static func end(by signal: Int32) throws(LinuxError) {
        try check(clinux_default_signal(signal), "sigaction", Signal.name(signal))
        try send(signal, to: pid)
    }
}
