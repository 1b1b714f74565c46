internal import CXCB
package import Vocabulary

/// What an X server tells of input (keyboard, pointer, touch): when there was none for some time,
/// and the first one after that. Between the two nothing is sent.
@safe
package final class InputWatch: @unchecked Sendable {  // Opened by one thread, then another's.
    package enum Event: Hashable, Sendable {
        /// No input for that time.
        case idle
        /// Input after that.
        case input
        /// The server has gone.
        case gone
    }

    private let watch: OpaquePointer

    /// Waits for the server. `cookie`: what it asks of clients; nil: what libxcb finds by itself.
    /// By one thread at a time.
    package init(
        display: String,
        cookie: [UInt8]?,
        patience: Interval
    ) throws(XError) {
        let milliseconds = max(1, patience.nanoseconds / 1_000_000)
        var opened: OpaquePointer?
        let count = Int32(cookie?.count ?? 0)
        let result = unsafe cxcb_watch_open(display, cookie, count, milliseconds, &opened)
        guard result == CXCB_OPEN, let opened = unsafe opened else {
            throw Self.error(result, display)
        }
        unsafe watch = opened
    }

    deinit { unsafe cxcb_watch_close(watch) }

    private static func error(_ result: cxcb_result, _ display: String) -> XError {
        switch result {
        case CXCB_NO_LIBRARY: .noLibrary
        case CXCB_NO_IDLE_TIME: .noIdleTime(display: display)
        case CXCB_NO_MEMORY: .noMemory
        default: .noServer(display: display)
        }
    }

    /// Readable when there may be an event. Ask for events once before waiting: some may have come
    /// while it was opened.
    package var descriptor: Int32 { unsafe cxcb_watch_descriptor(watch) }

    /// Whether that time without input was over when this was opened.
    package var wasIdle: Bool { unsafe cxcb_watch_was_idle(watch) != 0 }

    /// The next event that is here; never waits.
    package func next() -> Event? {
        switch unsafe cxcb_watch_next(watch) {
        case CXCB_IDLE: .idle
        case CXCB_INPUT: .input
        case CXCB_GONE: .gone
        default: nil
        }
    }
}
