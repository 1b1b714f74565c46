public import Dispatch
internal import Synchronization
internal import Vocabulary

/// Tells an app of the network: what it is now, and each change while the app runs. An app that
/// was suspended is told once, if anything has changed.
///
/// A change of the interface alone, such as from Wi-Fi to a cable, is told with the next change of
/// the network; ``currentPath`` has it at once.
///
/// It is also an asynchronous sequence of paths, for any number of loops: each begins with the
/// path as it is, needs no ``start(queue:)``, and ends with the monitor's ``cancel()``.
public final class NWPathMonitor: Sendable {
    private let session: AppSession
    private let required: NWInterface.InterfaceType?
    private let prohibited: [NWInterface.InterfaceType]
    private let interfaces: @Sendable () -> [NWInterface]
    private let state = Mutex(State())

    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
        /// What the handler was told last.
        var told: NWPath?
        var observer: UInt64?
        var isCancelled = false
        var loops: [UInt64: Loop] = [:]
        var lastLoop: UInt64 = 0
    }

    /// One that waits for paths.
    private struct Loop {
        let paths: AsyncStream<NWPath>.Continuation
        let queue = DispatchQueue(label: "org.offstage.path")
        var told: NWPath?
        var observer: UInt64?
    }

    /// Of all interfaces.
    public convenience init() { self.init(.shared) }

    /// Only of interfaces of one type.
    ///
    /// - Parameter requiredInterfaceType: The type.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(.shared, required: requiredInterfaceType)
    }

    /// Of all interfaces but those of some types.
    ///
    /// - Parameter prohibitedInterfaceTypes: The types.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(.shared, prohibited: prohibitedInterfaceTypes)
    }

    init(
        _ session: AppSession,
        required: NWInterface.InterfaceType? = nil,
        prohibited: [NWInterface.InterfaceType] = [],
        interfaces: @escaping @Sendable () -> [NWInterface] = { DefaultRoutes.interfaces() }
    ) {
        (self.session, self.required) = (session, required)
        (self.prohibited, self.interfaces) = (prohibited, interfaces)
    }

    deinit { cancel() }

    /// Called on the queue with the path as it is after ``start(queue:)``, and with each later
    /// change.
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { state.withLock { $0.handler } }
        set {
            // What the old one holds may end with it, so not under the lock.
            let old = state.withLock { state in
                defer { state.handler = newValue }
                return state.handler
            }
            withExtendedLifetime(old) {}
            // The path may have been known before there was anybody to be told.
            tell()
        }
    }

    /// The queue that it was started on.
    public var queue: DispatchQueue? { state.withLock { $0.queue } }

    /// The path as it is. The first look at the network asks the daemon, and waits for the answer.
    public var currentPath: NWPath { path(session.device) }

    /// Begins to tell. A monitor that was started, or cancelled, does not start again.
    ///
    /// - Parameter queue: Where the handler is called.
    public func start(queue: DispatchQueue) {
        let isFirst = state.withLock { state in
            guard state.queue == nil, !state.isCancelled else { return false }
            state.queue = queue
            return true
        }
        guard isFirst else { return }
        let observer = session.observeDevice(known: { [weak self] in self?.tell() }) {
            [weak self] _, _ in self?.tell()
        }
        let isLate = state.withLock { state in
            state.observer = observer
            return state.isCancelled
        }
        if isLate { session.stopObservingDevice(observer) }
    }

    /// Ends it: the handler is called no more, and loops end.
    public func cancel() {
        let (observer, handler, loops) = state.withLock { state in
            state.isCancelled = true
            defer { state.loops = [:] }
            return (state.observer.take(), state.handler.take(), state.loops)
        }
        if let observer { session.stopObservingDevice(observer) }
        for (_, loop) in loops { end(loop) }
        // What it holds may end with it, so not under the lock.
        withExtendedLifetime(handler) {}
    }

    private func path(_ conditions: DeviceConditions) -> NWPath {
        NWPath(
            conditions,
            interfaces: interfaces(),
            required: required,
            prohibited: prohibited
        )
    }

    // MARK: The handler

    /// What is told is read on the queue: what was known when it was asked for may have changed.
    private func tell() {
        queue?.async { [weak self] in
            guard let self else { return }
            // The queue may run several blocks at once: the last word is the last told.
            let news = state.withLock { state -> ((@Sendable (NWPath) -> Void), NWPath)? in
                guard !state.isCancelled, let handler = state.handler,
                    let path = session.knownDevice.map(path), state.told != path
                else { return nil }
                state.told = path
                return (handler, path)
            }
            if let (handler, path) = news { handler(path) }
        }
    }

    // MARK: Loops

    /// Ends by `unfollow`; one whose monitor was cancelled ends at once.
    fileprivate func follow(_ paths: AsyncStream<NWPath>.Continuation) -> UInt64? {
        let number = state.withLock { state -> UInt64? in
            guard !state.isCancelled else { return nil }
            state.lastLoop += 1
            state.loops[state.lastLoop] = Loop(paths: paths)
            return state.lastLoop
        }
        guard let number else {
            paths.finish()
            return nil
        }
        let observer = session.observeDevice(known: { [weak self] in self?.tell(number) }) {
            [weak self] _, _ in self?.tell(number)
        }
        let isLate = state.withLock { state in
            state.loops[number]?.observer = observer
            return state.loops[number] == nil
        }
        if isLate { session.stopObservingDevice(observer) }
        return number
    }

    fileprivate func unfollow(_ number: UInt64) {
        let loop = state.withLock { $0.loops.removeValue(forKey: number) }
        if let loop { end(loop) }
    }

    private func end(_ loop: Loop) {
        if let observer = loop.observer { session.stopObservingDevice(observer) }
        loop.paths.finish()
    }

    private func tell(_ number: UInt64) {
        let queue = state.withLock { $0.loops[number]?.queue }
        queue?.async { [weak self] in
            guard let self, let conditions = session.knownDevice else { return }
            let path = path(conditions)
            let paths = state.withLock { state -> AsyncStream<NWPath>.Continuation? in
                guard let loop = state.loops[number], loop.told != path else { return nil }
                state.loops[number]?.told = path
                return loop.paths
            }
            paths?.yield(path)
        }
    }
}

extension NWPathMonitor: AsyncSequence {
    /// A path.
    public typealias Element = NWPath

    /// The path as it is, then each later change. A newer one takes the place of one that was not
    /// taken.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let paths: AsyncStream<NWPath>

        fileprivate init(_ monitor: NWPathMonitor) {
            let (paths, sender) = AsyncStream.makeStream(
                of: NWPath.self,
                bufferingPolicy: .bufferingNewest(1)
            )
            self.paths = paths
            guard let number = monitor.follow(sender) else { return }
            // The monitor is kept as long as somebody waits for its paths.
            sender.onTermination = { _ in monitor.unfollow(number) }
        }

        /// The next path; nil: the task that asks was cancelled, or the monitor.
        public func next() async -> NWPath? {
            var iterator = paths.makeAsyncIterator()
            return await iterator.next()
        }
    }

    /// Begins with the path as it is.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
