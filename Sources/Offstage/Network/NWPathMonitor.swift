public import Dispatch
internal import Synchronization
internal import Vocabulary

/// Tells an app of the network: what it is now, and each change while the app runs. An app that
/// was suspended is told once, if anything has changed.
///
/// It is also an asynchronous sequence of paths: then it starts by itself, and ends with the loop.
public final class NWPathMonitor: Sendable {
    private let session: AppSession
    private let required: NWInterface.InterfaceType?
    private let prohibited: [NWInterface.InterfaceType]
    private let interfaces: @Sendable () -> [NWInterface]
    private let state = Mutex(State())

    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
        var observer: UInt64?
        var isCancelled = false
        /// Who waits for paths, and is told that there are no more.
        var ended: (@Sendable () -> Void)?
        /// As was told last.
        var path: NWPath?
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

    /// Called on the queue with the path as it is after ``start(queue:)``, and with each other one.
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { state.withLock { $0.handler } }
        set {
            // What the old one holds may end with it, so not under the lock.
            let old = state.withLock { state in
                defer { state.handler = newValue }
                return state.handler
            }
            withExtendedLifetime(old) {}
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
        let observer = session.observeDevice { [weak self] _, now in self?.tell(now) }
        let isLate = state.withLock { state in
            state.observer = observer
            return state.isCancelled
        }
        if isLate { return session.stopObservingDevice(observer) }
        session.withDevice { [weak self] in self?.tell($0) }
    }

    /// Ends it: the handler is called no more.
    public func cancel() {
        let (observer, handler, ended) = state.withLock { state in
            state.isCancelled = true
            return (state.observer.take(), state.handler.take(), state.ended.take())
        }
        if let observer { session.stopObservingDevice(observer) }
        ended?()
        // What it holds may end with it, so not under the lock.
        withExtendedLifetime(handler) {}
    }

    /// For a sequence; one whose monitor was cancelled is empty.
    private func follow(
        _ handler: @escaping @Sendable (NWPath) -> Void,
        ended: @escaping @Sendable () -> Void
    ) {
        pathUpdateHandler = handler
        let isOver = state.withLock { state in
            if !state.isCancelled { state.ended = ended }
            return state.isCancelled
        }
        if isOver { ended() } else { start(queue: DispatchQueue(label: "org.offstage.path")) }
    }

    private func path(_ conditions: DeviceConditions) -> NWPath {
        NWPath(
            conditions,
            interfaces: interfaces(),
            required: required,
            prohibited: prohibited
        )
    }

    private func tell(_ conditions: DeviceConditions) {
        queue?.async { [weak self] in
            guard let self else { return }
            let path = path(conditions)
            let handler = state.withLock { state -> (@Sendable (NWPath) -> Void)? in
                guard !state.isCancelled, state.path != path else { return nil }
                state.path = path
                return state.handler
            }
            handler?(path)
        }
    }
}

extension NWPathMonitor: AsyncSequence {
    /// A path.
    public typealias Element = NWPath

    /// The path as it is, then each other one. A newer one takes the place of one that was not
    /// taken.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let paths: AsyncStream<NWPath>

        fileprivate init(_ monitor: NWPathMonitor) {
            let (paths, sender) = AsyncStream.makeStream(
                of: NWPath.self,
                bufferingPolicy: .bufferingNewest(1)
            )
            self.paths = paths
            // The monitor is kept as long as somebody waits for its paths.
            sender.onTermination = { _ in monitor.cancel() }
            monitor.follow({ sender.yield($0) }, ended: { sender.finish() })
        }

        /// The next path; nil: the task that asks was cancelled, or the monitor.
        public func next() async -> NWPath? {
            var iterator = paths.makeAsyncIterator()
            return await iterator.next()
        }
    }

    /// Starts the monitor.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
