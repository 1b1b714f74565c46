internal import CSystemd
internal import Glibc
package import Linux
package import Vocabulary

/// Something that a loop watches until this object goes. A handler may drop its own source.
package protocol Source: AnyObject {
    /// Off: it is not looked at until it is on again.
    func setEnabled(_ enabled: Bool) throws(LinuxError)
}

/// A source of sd-event's own.
@safe
package class QueuedSource: Source {
    fileprivate var pointer: OpaquePointer?

    fileprivate init() { unsafe pointer = nil }

    deinit { stop() }

    /// For those whose own fields hold the descriptor: fields go before the base class does.
    fileprivate final func stop() {
        unsafe sd_event_source_disable_unref(pointer)
        unsafe pointer = nil
    }

    /// Smaller numbers go first among what is ready; 0 at the start.
    package final func setPriority(_ priority: Int64) throws(LinuxError) {
        try check(
            unsafe sd_event_source_set_priority(pointer, priority),
            "sd_event_source_set_priority"
        )
    }

    package final func setEnabled(_ enabled: Bool) throws(LinuxError) {
        let state = enabled ? SD_EVENT_ON : SD_EVENT_OFF
        try check(
            unsafe sd_event_source_set_enabled(pointer, Int32(state)),
            "sd_event_source_set_enabled"
        )
    }

    /// Has sd-event itself watch a descriptor, which must stay open as long as this is there.
    fileprivate final func watch(
        _ loop: EventLoop,
        _ descriptor: Int32,
        for events: EPOLL_EVENTS,
        _ handler: sd_event_io_handler_t
    ) throws(LinuxError) {
        try check(
            unsafe sd_event_add_io(
                loop.handle,
                &pointer,
                descriptor,
                UInt32(events.rawValue),
                handler,
                context
            ),
            "sd_event_add_io",
            "descriptor \(descriptor)"
        )
    }

    /// What C gets to find this object by; it lives until `deinit` has told sd-event to forget it.
    fileprivate final var context: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }

    /// The object behind a context, kept alive for the length of the handler.
    fileprivate static func of<Kind: QueuedSource>(
        _ context: UnsafeMutableRawPointer?,
        as kind: Kind.Type
    ) -> Kind? {
        guard let context = unsafe context else { return nil }
        return unsafe Unmanaged<Kind>.fromOpaque(context).takeUnretainedValue()
    }
}

/// A point on the boot clock, once per `arm`. Off until armed.
@safe
package final class TimerSource: QueuedSource {
    fileprivate let handler: () -> Void

    /// Whether it wakes a sleeping machine.
    package let isAlarm: Bool

    /// `wakingTheMachine` is best effort: without hardware or the right to it is an ordinary timer.
    package init(
        _ loop: EventLoop,
        wakingTheMachine: Bool = false,
        handler: @escaping () -> Void
    ) throws(LinuxError) {
        self.handler = handler
        var source: OpaquePointer?
        let asAlarm =
            unsafe wakingTheMachine
            ? Self.add(loop, CLOCK_BOOTTIME_ALARM, &source) : -EOPNOTSUPP
        isAlarm = asAlarm >= 0
        let result = unsafe isAlarm ? asAlarm : Self.add(loop, CLOCK_BOOTTIME, &source)
        super.init()
        try check(result, "sd_event_add_time")
        unsafe pointer = source
        unsafe sd_event_source_set_userdata(source, context)
        try setEnabled(false)
    }

    private static func add(
        _ loop: EventLoop,
        _ clock: Int32,
        _ source: inout OpaquePointer?
    ) -> Int32 {
        // Accuracy 1 µs: 0 would mean 250 ms.
        unsafe sd_event_add_time(
            loop.handle,
            &source,
            clock,
            .max,
            1,
            { _, _, context in
                unsafe QueuedSource.of(context, as: TimerSource.self)?.handler()
                return 0
            },
            nil
        )
    }

    /// Fires once at or after `instant`, at once when it has passed; nil: not at all.
    package func arm(at instant: BootTime?) throws(LinuxError) {
        guard let instant, instant != .distantFuture else {
            try setEnabled(false)
            return
        }
        let nanoseconds = UInt64(max(0, instant.nanoseconds))
        // Rounded up, so that it never comes early.
        let microseconds = nanoseconds / 1000 + (nanoseconds % 1000 == 0 ? 0 : 1)
        try check(
            unsafe sd_event_source_set_time(pointer, microseconds),
            "sd_event_source_set_time"
        )
        try check(
            unsafe sd_event_source_set_enabled(pointer, Int32(SD_EVENT_ONESHOT)),
            "sd_event_source_set_enabled"
        )
    }
}

/// A trigger of the kernel's, as that of memory pressure: a descriptor that is ready for EPOLLPRI
/// and forgets that with the first look. Sd-event's look at the epoll of the `DescriptorSource`s
/// would be that, and the handler's would find nothing.
@safe
package final class TriggerSource: QueuedSource {
    fileprivate let handler: () -> Void

    /// The descriptor must stay open as long as the source is there.
    package init(
        _ loop: EventLoop,
        _ descriptor: Int32,
        handler: @escaping () -> Void
    ) throws(LinuxError) {
        self.handler = handler
        super.init()
        try unsafe watch(loop, descriptor, for: EPOLLPRI) { _, _, _, context in
            unsafe QueuedSource.of(context, as: TriggerSource.self)?.handler()
            return 0
        }
    }
}

/// A descriptor that sd-event itself watches: found with one look less than a `DescriptorSource`
/// when it alone is ready, with many more when many are.
@safe
package final class SingleSource: QueuedSource {
    fileprivate let handler: (DescriptorSource.Events) -> Void
    private var events: DescriptorSource.Events

    /// The descriptor must stay open as long as the source is there.
    package init(
        _ loop: EventLoop,
        _ descriptor: Int32,
        _ events: DescriptorSource.Events,
        handler: @escaping (DescriptorSource.Events) -> Void
    ) throws(LinuxError) {
        (self.events, self.handler) = (events, handler)
        super.init()
        try unsafe watch(loop, descriptor, for: EPOLL_EVENTS(events.rawValue)) {
            _,
            _,
            found,
            context in
            unsafe QueuedSource.of(context, as: SingleSource.self)?
                .handler(DescriptorSource.Events(rawValue: found))
            return 0
        }
    }

    /// Waits for others from now on.
    package func setEvents(_ events: DescriptorSource.Events) throws(LinuxError) {
        guard events != self.events else { return }
        self.events = events
        try check(
            unsafe sd_event_source_set_io_events(pointer, events.rawValue),
            "sd_event_source_set_io_events"
        )
    }
}

/// A signal to this process; it must be blocked (`busy` otherwise).
@safe
package final class SignalSource: QueuedSource {
    /// Who sent it: 0 is the kernel, or a process of another pid namespace.
    fileprivate let handler: (_ sender: Int32) -> Void

    package init(
        _ loop: EventLoop,
        _ signal: Int32,
        handler: @escaping (_ sender: Int32) -> Void
    ) throws(LinuxError) {
        self.handler = handler
        super.init()
        try check(
            unsafe sd_event_add_signal(
                loop.handle,
                &pointer,
                signal,
                { _, information, context in
                    let sender = unsafe information.map { unsafe Int32($0.pointee.ssi_pid) } ?? 0
                    unsafe QueuedSource.of(context, as: SignalSource.self)?.handler(sender)
                    return 0
                },
                context
            ),
            "sd_event_add_signal",
            Signal.name(signal)
        )
    }
}

/// The end of a process, told once.
@safe
package final class ProcessSource: QueuedSource {
    package let process: PidFD
    fileprivate let handler: (ProcessExit) -> Void
    /// Nil: it is nobody's child here.
    private let children: ChildTable?

    deinit {
        stop()
        children?.pids.remove(process.pid)
    }

    /// A child of ours, which is reaped. SIGCHLD must be blocked (`busy` otherwise).
    package init(
        _ loop: EventLoop,
        child process: consuming PidFD,
        handler: @escaping (ProcessExit) -> Void
    ) throws(LinuxError) {
        let number = process.descriptor.number
        children = loop.children
        loop.children.pids.insert(process.pid)
        self.process = process
        self.handler = handler
        super.init()
        try check(
            unsafe sd_event_add_child_pidfd(
                loop.handle,
                &pointer,
                number,
                Int32(WEXITED),
                { _, information, context in
                    guard let information = unsafe information else { return 0 }
                    let exit = unsafe ProcessExit(
                        code: information.pointee.si_code,
                        status: information.pointee._sifields._sigchld.si_status
                    )
                    unsafe QueuedSource.of(context, as: ProcessSource.self)?.handler(exit)
                    return 0
                },
                context
            ),
            "sd_event_add_child_pidfd",
            "descriptor \(number)"
        )
    }

    /// A process that somebody else started: how it ended is `unknown` unless the kernel tells it.
    /// (A child source on it would end the loop itself.)
    package init(
        _ loop: EventLoop,
        adopted process: consuming PidFD,
        handler: @escaping (ProcessExit) -> Void
    ) throws(LinuxError) {
        let number = process.descriptor.number
        children = nil
        self.process = process
        self.handler = handler
        super.init()
        try unsafe watch(loop, number, for: EPOLLIN) { source, _, _, context in
            // A pidfd stays readable for ever.
            unsafe sd_event_source_set_enabled(source, Int32(SD_EVENT_OFF))
            if let source = unsafe QueuedSource.of(context, as: ProcessSource.self) {
                source.handler(source.process.end ?? .unknown)
            }
            return 0
        }
    }
}

/// Changes below a path (inotify).
@safe
package final class PathSource: QueuedSource {
    fileprivate let handler: (Inotify.Event) -> Void

    package init(
        _ loop: EventLoop,
        _ path: String,
        _ mask: Inotify.Mask,
        handler: @escaping (Inotify.Event) -> Void
    ) throws(LinuxError) {
        self.handler = handler
        super.init()
        try check(
            unsafe sd_event_add_inotify(
                loop.handle,
                &pointer,
                path,
                mask.rawValue,
                { _, event, context in
                    guard let event = unsafe event else { return 0 }
                    let length = unsafe Int(event.pointee.len)
                    let name = unsafe UnsafeRawBufferPointer(
                        start: UnsafeRawPointer(event) + MemoryLayout<inotify_event>.size,
                        count: length
                    )
                    let copy = unsafe Inotify.Event(
                        watch: event.pointee.wd,
                        mask: Inotify.Mask(rawValue: event.pointee.mask),
                        name: String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                    )
                    unsafe QueuedSource.of(context, as: PathSource.self)?.handler(copy)
                    return 0
                },
                context
            ),
            "sd_event_add_inotify",
            path
        )
    }
}

/// A handler that runs once, soon, outside the one that runs now.
@safe
package final class DeferredSource: QueuedSource {
    fileprivate let handler: () -> Void

    package init(_ loop: EventLoop, handler: @escaping () -> Void) throws(LinuxError) {
        self.handler = handler
        super.init()
        try check(
            unsafe sd_event_add_defer(
                loop.handle,
                &pointer,
                { _, context in
                    unsafe QueuedSource.of(context, as: DeferredSource.self)?.handler()
                    return 0
                },
                context
            ),
            "sd_event_add_defer"
        )
    }
}
