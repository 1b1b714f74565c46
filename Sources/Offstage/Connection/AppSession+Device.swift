internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// The device as the daemon knows it. The first read makes the daemon watch; after that it tells
/// each change, and a read waits for nothing.
extension AppSession {
    struct DeviceState {
        /// As it was known when anybody read it, or was told, last; nil: neither has happened.
        fileprivate var shown: DeviceConditions?
        fileprivate var knowledge = Knowledge.old
        fileprivate var observers: [UInt64: DeviceObserver] = [:]
        fileprivate var lastObserver: UInt64 = 0

        fileprivate enum Knowledge {
            /// Nobody has asked on this connection, or only a process that is not told of changes.
            case old
            /// The last question was not answered: the next reader does not wait for another.
            case unanswered
            /// The daemon tells each change, or is an older one that knows nothing of the device.
            case current
        }

        /// This daemon was asked nothing yet.
        mutating func connected() { knowledge = .old }

        /// Without a daemon nothing is known; of one that was there, what it said last.
        fileprivate mutating func read() -> DeviceConditions {
            let conditions = shown ?? DeviceConditions()
            shown = conditions
            return conditions
        }
    }

    /// Called on the link's thread, which must not be kept waiting.
    typealias DeviceObserver =
        @Sendable (_ before: DeviceConditions, _ now: DeviceConditions) -> Void

    // MARK: Reading

    /// As it is now. The daemon is asked, and answers within a bounded time, by the first read and,
    /// in a process that has not said hello, by each. Once it has not answered, a read returns what
    /// was known last, and the answer to come is told as a change.
    var device: DeviceConditions {
        let knowledge = state.withLock { $0.device.knowledge }
        switch knowledge {
        case .current: break
        case .unanswered: askForDevice {}
        case .old:
            let answered = DispatchSemaphore(value: 0)
            askForDevice { answered.signal() }
            answered.wait()
        }
        return state.withLock { $0.device.read() }
    }

    /// As it was known last; nil: nobody has asked, or there is no answer yet.
    var knownDevice: DeviceConditions? { state.withLock { $0.device.shown } }

    /// Calls `body` for each change from now on, and `known` once, on this thread or on the link's,
    /// when what there is to be known is known.
    func observeDevice(
        known: @escaping @Sendable () -> Void = {},
        _ body: @escaping DeviceObserver
    ) -> UInt64 {
        let (number, isCurrent) = state.withLock { state in
            state.device.lastObserver += 1
            state.device.observers[state.device.lastObserver] = body
            return (state.device.lastObserver, state.device.knowledge == .current)
        }
        let read: @Sendable () -> Void = { [self] in
            _ = state.withLock { $0.device.read() }
            known()
        }
        if isCurrent { read() } else { askForDevice(read) }
        return number
    }

    func stopObservingDevice(_ number: UInt64) {
        let observer = state.withLock { $0.device.observers.removeValue(forKey: number) }
        // What it holds may end with it, and come back here, so not under the lock.
        withExtendedLifetime(observer) {}
    }

    // MARK: The daemon

    private func askForDevice(_ done: @escaping @Sendable () -> Void) {
        connection.ask(
            .lookAtDevice { [self] answer in
                if case .failure(let error) = answer {
                    state.withLock {
                        $0.device.knowledge =
                            error.reason == .unsupported ? .current : .unanswered
                    }
                }
                done()
            },
            for: self
        )
    }

    func changed(conditions: DeviceConditions, isTold: Bool) {
        let (before, observers) = state.withLock { state in
            let before = state.device.shown ?? conditions
            state.device.shown = conditions
            state.device.knowledge = isTold ? .current : .old
            let numbers = state.device.observers.keys.sorted()
            return (before, numbers.compactMap { state.device.observers[$0] })
        }
        guard before != conditions else { return }
        for observer in observers { observer(before, conditions) }
    }

    // MARK: The screen

    /// Whether the screen stays on in the foreground.
    func setIdleTimer(disabled: Bool) {
        connection.ask(.setIdleTimer(disabled: disabled), for: self)
    }
}
