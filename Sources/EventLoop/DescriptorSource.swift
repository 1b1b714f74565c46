internal import CSystemd
internal import Glibc
package import Linux

/// A descriptor that can be read or written. It must stay open as long as the source is there. (A
/// trigger of the kernel's needs a `TriggerSource`.)
package final class DescriptorSource: Source {
    /// What a descriptor can be ready for.
    package struct Events: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let readable = Events(rawValue: UInt32(EPOLLIN.rawValue))
        package static let writable = Events(rawValue: UInt32(EPOLLOUT.rawValue))
        /// Asked for with others: what is there already is told once, then only what comes.
        package static let onChange = Events(rawValue: UInt32(EPOLLET.rawValue))
        /// Always reported, asked for or not.
        package static let hangUp = Events(rawValue: UInt32(EPOLLHUP.rawValue))
        package static let error = Events(rawValue: UInt32(EPOLLERR.rawValue))
    }

    fileprivate let handler: (Events) -> Void
    private let table: DescriptorTable
    private let descriptor: Int32
    private var slot: DescriptorTable.Slot
    private var events: Events
    private var isEnabled = true

    package init(
        _ loop: EventLoop,
        _ descriptor: Int32,
        _ events: Events,
        handler: @escaping (Events) -> Void
    ) throws(LinuxError) {
        (self.descriptor, self.events, self.handler) = (descriptor, events, handler)
        table = loop.descriptors
        slot = table.reserve()
        do throws(LinuxError) {
            try table.watch(descriptor, events, at: slot)
        } catch {
            isEnabled = false
            throw error
        }
        table.put(self, at: slot)
    }

    deinit {
        if isEnabled { try? table.forget(descriptor) }
        table.free(slot)
    }

    /// Waits for others from now on.
    package func setEvents(_ events: Events) throws(LinuxError) {
        guard events != self.events else { return }
        self.events = events
        if isEnabled { try table.change(descriptor, events, at: slot) }
    }

    package func setEnabled(_ enabled: Bool) throws(LinuxError) {
        guard enabled != isEnabled else { return }
        if enabled {
            try table.watch(descriptor, events, at: slot)
        } else {
            try table.forget(descriptor)
        }
        isEnabled = enabled
    }

    /// False: the source has changed since it was looked for, and is told nothing.
    fileprivate func found(_ found: Events) -> Bool {
        let wanted = found.intersection(events.union([.hangUp, .error]))
        guard isEnabled, !wanted.isEmpty else { return false }
        handler(wanted)
        return true
    }
}

/// The descriptors of one loop, in an epoll of their own which sd-event watches as one source.
///
/// sd-event looks at everything that is ready before each single handler. Here one look serves
/// many, so that a handler's cost does not grow with the number of those that are ready.
@safe
final class DescriptorTable {
    /// Where a source stands; never the same for two sources.
    struct Slot {
        fileprivate var index: UInt32
        fileprivate var generation: UInt32
    }

    private struct Entry {
        /// Not kept alive: its end takes it out.
        unowned(unsafe) var source: DescriptorSource?
        var generation: UInt32
    }

    /// How many handlers may still run in this turn, and how many ran since `begin`.
    private var limit = 0
    private(set) var ran = 0
    var isEnding = false
    /// One look a turn, which finds each at most once.
    private var isOnce = false
    private var looks = 0

    private let epoll: FileDescriptor
    private var entries: [Entry] = []
    private var unused: [UInt32] = []
    private let events: UnsafeMutablePointer<epoll_event>
    private var source: OpaquePointer?

    /// Descriptors found by one look.
    private static let capacity = 256

    init(_ loop: OpaquePointer) throws(LinuxError) {
        let number = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard number >= 0 else { throw LinuxError("epoll_create1", "", Errno(errno)) }
        epoll = FileDescriptor(owning: number)
        unsafe events = .allocate(capacity: Self.capacity)
        unsafe source = nil
        try check(
            unsafe sd_event_add_io(
                loop,
                &source,
                number,
                UInt32(EPOLLIN.rawValue),
                { _, _, _, context in
                    guard let context = unsafe context else { return 0 }
                    unsafe Unmanaged<DescriptorTable>.fromOpaque(context).takeUnretainedValue()
                        .dispatch()
                    return 0
                },
                Unmanaged.passUnretained(self).toOpaque()
            ),
            "sd_event_add_io"
        )
    }

    deinit {
        unsafe sd_event_source_disable_unref(source)
        unsafe events.deallocate()
    }

    /// The next look may run so many handlers.
    func begin(limit: Int) { (self.limit, ran) = (limit, 0) }

    func beginTurn(once: Bool) { (isOnce, looks) = (once, 0) }

    /// They had their one look, and everything else that was ready then had its time.
    var isServed: Bool { isOnce && looks > 1 }

    private func dispatch() {
        looks += 1
        guard !isServed else { return }
        let most = Int32(min(limit - ran, Self.capacity))
        guard most > 0 else { return }
        let count = unsafe epoll_wait(epoll.number, events, most, 0)
        guard count > 0 else { return }
        for index in 0..<Int(count) where !isEnding {
            let event = unsafe events[index]
            let data = unsafe event.data.u64
            let entry = entries[Int(data & 0xFFFF_FFFF)]
            // An earlier handler may have dropped it.
            guard entry.generation == UInt32(data >> 32), let source = unsafe entry.source else {
                continue
            }
            let found = unsafe DescriptorSource.Events(rawValue: event.events)
            if source.found(found) { ran += 1 }
        }
    }

    // MARK: Slots

    func reserve() -> Slot {
        if let index = unused.popLast() {
            return Slot(index: index, generation: entries[Int(index)].generation)
        }
        entries.append(Entry(source: nil, generation: 0))
        return Slot(index: UInt32(entries.count - 1), generation: 0)
    }

    func put(_ source: DescriptorSource, at slot: Slot) {
        unsafe entries[Int(slot.index)].source = source
    }

    func free(_ slot: Slot) {
        unsafe entries[Int(slot.index)].source = nil
        entries[Int(slot.index)].generation &+= 1
        unused.append(slot.index)
    }

    // MARK: epoll

    func watch(
        _ descriptor: Int32,
        _ events: DescriptorSource.Events,
        at slot: Slot
    ) throws(LinuxError) {
        try control(EPOLL_CTL_ADD, descriptor, events, slot)
    }

    func change(
        _ descriptor: Int32,
        _ events: DescriptorSource.Events,
        at slot: Slot
    ) throws(LinuxError) {
        try control(EPOLL_CTL_MOD, descriptor, events, slot)
    }

    func forget(_ descriptor: Int32) throws(LinuxError) {
        try control(EPOLL_CTL_DEL, descriptor, [], nil)
    }

    private func control(
        _ operation: Int32,
        _ descriptor: Int32,
        _ events: DescriptorSource.Events,
        _ slot: Slot?
    ) throws(LinuxError) {
        var event = unsafe epoll_event()
        unsafe event.events = events.rawValue
        if let slot {
            unsafe event.data.u64 = UInt64(slot.generation) << 32 | UInt64(slot.index)
        }
        guard unsafe epoll_ctl(epoll.number, operation, descriptor, &event) == 0 else {
            throw LinuxError("epoll_ctl", "descriptor \(descriptor)", Errno(errno))
        }
    }
}
