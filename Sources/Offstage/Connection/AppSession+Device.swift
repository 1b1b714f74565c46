internal import AppProtocol
internal import ClientCore
internal import Foundation
internal import Synchronization
internal import Vocabulary

/// The device as the daemon knows it. It is watched from the first time that anything of the app's
/// looks; what has changed is then told, and reading waits for nobody.
extension AppSession {
    struct DeviceState {
        /// As the app has been shown it; nil: it has not looked, and nothing was told.
        fileprivate var shown: DeviceConditions?
        /// Whether the daemon has been asked on this connection.
        fileprivate var watch = Watch.no
        fileprivate var isWanted = false
        fileprivate var observers: [UInt64: DeviceObserver] = [:]
        fileprivate var lastObserver: UInt64 = 0

        fileprivate enum Watch {
            case no
            /// The daemon tells what changes.
            case told
            /// An older daemon has no conditions for apps.
            case impossible
        }

        /// Of what was asked on an earlier connection this one knows nothing.
        mutating func connected() { watch = .no }

        /// Whether what is known is all that can be known.
        fileprivate var isCurrent: Bool { watch != .no }

        /// Reading it. Without a daemon nothing is known.
        fileprivate mutating func look() -> DeviceConditions {
            let conditions = shown ?? DeviceConditions()
            shown = conditions
            return conditions
        }
    }

    /// Called on the link's thread, which must not be kept waiting.
    typealias DeviceObserver =
        @Sendable (_ before: DeviceConditions, _ now: DeviceConditions) -> Void

    // MARK: Reading

    /// As it is now. The first time, and in a helper program each time, the daemon is asked, which
    /// answers within a bounded time; without one nothing is known.
    var device: DeviceConditions {
        if !state.withLock({ $0.device.isCurrent }) {
            let answered = DispatchSemaphore(value: 0)
            askForDevice { answered.signal() }
            answered.wait()
        }
        return state.withLock { $0.device.look() }
    }

    /// The same without waiting: `body` is called on this thread or on the link's.
    func withDevice(_ body: @escaping @Sendable (DeviceConditions) -> Void) {
        let read: @Sendable () -> Void = { [self] in body(state.withLock { $0.device.look() }) }
        if state.withLock({ $0.device.isCurrent }) { read() } else { askForDevice(read) }
    }

    /// Calls `body` for each change from now on.
    func observeDevice(_ body: @escaping DeviceObserver) -> UInt64 {
        let (number, isCurrent) = state.withLock { state in
            state.device.lastObserver += 1
            state.device.observers[state.device.lastObserver] = body
            return (state.device.lastObserver, state.device.isCurrent)
        }
        if !isCurrent { askForDevice {} }
        return number
    }

    func stopObservingDevice(_ number: UInt64) {
        let observer = state.withLock { $0.device.observers.removeValue(forKey: number) }
        // What it holds may end with it, and come back here, so not under the lock.
        withExtendedLifetime(observer) {}
    }

    // MARK: The daemon

    private func askForDevice(_ done: @escaping @Sendable () -> Void) {
        state.withLock { $0.device.isWanted = true }
        ask(
            OutgoingCall(App1.WatchConditions()) { [self] answer in
                switch answer {
                case .success(let conditions): took(conditions)
                case .failure(let error) where error.reason == .unsupported:
                    state.withLock { $0.device.watch = .impossible }
                case .failure(let error):
                    askAgain(after: error) { [self] in askForDevice {} }
                }
                done()
            } late: { [self] in
                took($0)
            }
        )
    }

    /// The daemon has answered, and tells what changes if it knows this process as an app.
    private func took(_ conditions: DeviceConditions) {
        state.withLock { if $0.greeting != nil { $0.device.watch = .told } }
        changed(conditions: conditions)
    }

    func changed(conditions: DeviceConditions) {
        let (before, observers) = state.withLock { state in
            let before = state.device.shown ?? conditions
            state.device.shown = conditions
            let numbers = state.device.observers.keys.sorted()
            return (before, numbers.compactMap { state.device.observers[$0] })
        }
        guard before != conditions else { return }
        for observer in observers { observer(before, conditions) }
    }

    /// Another connection: the daemon knows nothing of what was asked on the last.
    func watchDeviceAgain() {
        let (isWanted, isDisabled) = state.withLock { state in
            (state.device.isWanted, state.idleTimerIsDisabled)
        }
        if isWanted { askForDevice {} }
        if isDisabled { tellIdleTimer(true) }
    }

    // MARK: The screen

    /// Whether the desktop may lock the screen, or switch it off, in the foreground.
    func setIdleTimer(disabled: Bool) {
        let isNew = state.withLock { state in
            defer { state.idleTimerIsDisabled = disabled }
            return state.idleTimerIsDisabled != disabled
        }
        if isNew { tellIdleTimer(disabled) }
    }

    private func tellIdleTimer(_ isDisabled: Bool) {
        ask(
            OutgoingCall(App1.SetIdleTimer { $0.isDisabled = isDisabled }) { [self] answer in
                // Without a daemon, or with an older one, the desktop does as it likes.
                guard case .failure(let error) = answer else { return }
                askAgain(after: error) { [self] in
                    if state.withLock({ $0.idleTimerIsDisabled }) == isDisabled {
                        tellIdleTimer(isDisabled)
                    }
                }
            }
        )
    }

    /// A daemon whose disk is full refuses what it would take, and does not call back.
    private func askAgain(
        after error: CallError,
        _ body: @escaping @Sendable () -> Void
    ) {
        guard error.reason == .refused(.storage) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1), execute: body)
    }
}
