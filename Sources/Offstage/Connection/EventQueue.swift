internal import Foundation
internal import Synchronization

/// What a session has told and nobody has read yet. A reader is done with an event when it asks for
/// the next one. Until then the event stays first in the queue, and another reader gets it again.
final class EventQueue: Sendable {
    private let state: Mutex<State>

    fileprivate struct Entry: Sendable {
        var event: URLSession.Event
        /// Done when its reader is done with it.
        var whenLeft: [@Sendable () -> Void] = []
    }

    fileprivate struct Waiter: Sendable {
        let call: UInt64
        let reader: UInt64
        let continuation: CheckedContinuation<URLSession.Event?, Never>
    }

    fileprivate struct State: Sendable {
        /// Events are kept for somebody.
        var isOpen: Bool
        /// Somebody has asked for them.
        var hasReader = false
        /// There will be no more.
        var isOver = false
        var entries: [Entry] = []
        /// Who has taken the first of them; nil: nobody.
        var takenBy: UInt64?
        /// There is one only while there are no entries.
        var waiter: Waiter?
        var lastReader: UInt64 = 0
        /// The newest that has asked: those that were made before it get nothing more.
        var currentReader: UInt64 = 0
        var lastCall: UInt64 = 0
        /// Calls of tasks that were cancelled before they waited.
        var cancelled: Set<UInt64> = []
    }

    fileprivate enum Answer: Sendable {
        case event(URLSession.Event?)
        /// It waits, in the place of another that does no more.
        case wait(Waiter?)
    }

    /// `isOpen`: nobody else hears of the events, so they are kept from the start.
    init(isOpen: Bool) { state = Mutex(State(isOpen: isOpen)) }

    /// Somebody reads, or will.
    var hasReader: Bool { state.withLock { $0.hasReader } }

    func open() { state.withLock { ($0.isOpen, $0.hasReader) = (true, true) } }

    func newReader() -> UInt64 {
        state.withLock { state in
            state.lastReader += 1
            return state.lastReader
        }
    }

    // MARK: Telling

    func add(_ event: URLSession.Event) {
        let waiter = state.withLock { $0.add(event) }
        waiter?.continuation.resume(returning: event)
    }

    /// `body` is called when readers are done with all that was added until now. False: they are
    /// already, or there are none; it is not called.
    func whenLeft(_ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard !state.entries.isEmpty else { return false }
            state.entries[state.entries.count - 1].whenLeft.append(body)
            return true
        }
    }

    /// What is here may still be read.
    func end(_ error: URLError?) {
        let event = URLSession.Event.invalidated(error)
        // Whoever has read the last one and asks again must find that it was the last.
        let waiter = state.withLock { state in
            let waiter = state.add(event)
            state.isOver = true
            return waiter
        }
        waiter?.continuation.resume(returning: event)
    }

    // MARK: Reading

    func next(_ reader: UInt64) async -> URLSession.Event? {
        let (call, left) = state.withLock { state in
            state.lastCall += 1
            return (state.lastCall, state.leave(reader))
        }
        for body in left { body() }
        let event = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(Waiter(call: call, reader: reader, continuation: continuation))
            }
        } onCancel: {
            cancel(call)
        }
        state.withLock { _ = $0.cancelled.remove(call) }
        return event
    }

    private func wait(_ waiter: Waiter) {
        switch state.withLock({ $0.answer(waiter) }) {
        case .event(let event): waiter.continuation.resume(returning: event)
        case .wait(let former): former?.continuation.resume(returning: nil)
        }
    }

    private func cancel(_ call: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            guard state.waiter?.call == call else {
                state.cancelled.insert(call)
                return nil
            }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.continuation.resume(returning: nil)
    }
}

extension EventQueue.State {
    /// Who has waited for it; nil: nobody.
    fileprivate mutating func add(_ event: URLSession.Event) -> EventQueue.Waiter? {
        guard isOpen, !isOver, !merge(event) else { return nil }
        entries.append(EventQueue.Entry(event: event))
        guard let waiter else { return nil }
        (self.waiter, takenBy) = (nil, waiter.reader)
        return waiter
    }

    /// Nobody needs to know how far a task was before. So a slow reader costs no memory.
    private mutating func merge(_ event: URLSession.Event) -> Bool {
        guard case .progress(let task, bytes: _, of: _) = event,
            let index = entries.lastIndex(where: { $0.event.task === task }),
            case .progress = entries[index].event, index > 0 || takenBy == nil
        else { return false }
        entries[index].event = event
        return true
    }

    /// A reader is done with what it has taken; what is to be done for that.
    fileprivate mutating func leave(_ reader: UInt64) -> [@Sendable () -> Void] {
        guard takenBy == reader, !entries.isEmpty else { return [] }
        takenBy = nil
        return entries.removeFirst().whenLeft
    }

    fileprivate mutating func answer(_ waiter: EventQueue.Waiter) -> EventQueue.Answer {
        if cancelled.contains(waiter.call) { return .event(nil) }
        // Else two loops would take the first event from each other, and neither be done with it.
        guard waiter.reader >= currentReader else { return .event(nil) }
        currentReader = waiter.reader
        if let first = entries.first {
            takenBy = waiter.reader
            return .event(first.event)
        }
        if isOver { return .event(nil) }
        let former = self.waiter
        self.waiter = waiter
        return .wait(former)
    }
}

extension URLSession.Event {
    /// Nil: it is of none.
    fileprivate var task: URLSessionTask? {
        switch self {
        case .resumed(let task, at: _, of: _): task
        case .progress(let task, bytes: _, of: _): task
        case .received(let task, _): task
        case .finished(let task, file: _): task
        case .completed(let task, _): task
        case .allDelivered, .invalidated: nil
        }
    }
}
