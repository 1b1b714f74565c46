import Glibc
import Linux
import Synchronization

/// What a fault server and the threads of its connections have in common. It lives as long as any
/// of them.
final class FaultState: Sendable {
    struct Shared {
        var behaviours: [String: FaultServer.Behaviour] = [:]
        var requests: [FaultServer.Request] = []
        var held = 0
        fileprivate var waiters: [Waiter] = []
        var answered = 0
        /// Bodies on their way, and how many there have been at once.
        var bodies = 0
        var mostBodies = 0
        /// Open ones.
        fileprivate var connections: Set<Int32> = []
        var accepted = 0
        var uploads = FaultServer.Uploads()
        /// The next connection.
        var goesAway: (path: String, count: Int64)?
        fileprivate var isOver = false
    }

    /// One for each who waits, so that each release reaches all of them.
    fileprivate final class Waiter: Sendable {
        let path: String
        let counter: EventCounter

        init(_ path: String) throws {
            self.path = path
            counter = try EventCounter()
        }
    }

    let shared = Mutex(Shared())
    /// Written to when something is held, when a request has come, and when one was answered.
    let events: EventCounter
    let identity: FaultIdentity?

    init(_ identity: FaultIdentity?) throws {
        self.identity = identity
        events = try EventCounter()
    }

    // MARK: Connections

    func accept(_ socket: Int32) {
        shared.withLock {
            $0.connections.insert(socket)
            $0.accepted += 1
        }
    }

    /// Its number may be another's from then on.
    func close(_ socket: Int32) {
        shared.withLock { _ = $0.connections.remove(socket) }
        Glibc.close(socket)
    }

    /// All connections end.
    func end() {
        shared.withLock {
            $0.isOver = true
            for socket in $0.connections { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        release(nil)
    }

    // MARK: What is held

    func waitForRelease(_ path: String) {
        guard let waiter = try? Waiter(path) else { return }
        let isOver = shared.withLock { shared in
            shared.held += 1
            shared.waiters.append(waiter)
            return shared.isOver
        }
        events.signal()
        guard !isOver else { return }
        _ = Poll.ready(
            waiter.counter.descriptor.number,
            for: .readable,
            milliseconds: Wait.limitMilliseconds
        )
    }

    var isHolding: Bool { shared.withLock { !$0.waiters.isEmpty } }

    /// Nil: all of them.
    func release(_ path: String?) {
        let waiters = shared.withLock { shared in
            let all = shared.waiters
            shared.waiters = all.filter { path != nil && $0.path != path }
            return all.filter { path == nil || $0.path == path }
        }
        for waiter in waiters { waiter.counter.signal() }
    }
}
