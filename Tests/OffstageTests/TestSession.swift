import Linux
@testable import Offstage
import Synchronization
import TestKit
import Vocabulary

/// A session with a daemon of a test's own, ended with it.
final class TestSession: Sendable {
    let session: AppSession
    let scheduler: BGTaskScheduler

    init(
        _ socket: String?,
        ticks: Int = 10_000,
        connecting: Interval = .seconds(60)
    ) {
        session = AppSession(
            DaemonConnection.Settings(
                socket: socket,
                tick: .milliseconds(20),
                ticks: ticks,
                connecting: connecting
            )
        )
        scheduler = BGTaskScheduler(session)
    }

    deinit { session.stop() }

    /// With a daemon that tells these conditions of the device.
    static func watching(_ conditions: Value) throws -> (BenchDaemon, TestSession) {
        let daemon = try BenchDaemon()
        daemon.behave("WatchConditions", .answer([conditions]))
        return (daemon, TestSession(daemon.socket))
    }
}

/// What one thread puts in, and a test takes out.
final class Inbox<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    private let wakeup: EventCounter

    init() {
        do {
            wakeup = try EventCounter()
        } catch {
            fatalError("\(error)")
        }
    }

    func put(_ element: Element) {
        elements.withLock { $0.append(element) }
        wakeup.signal()
    }

    var isEmpty: Bool { elements.withLock(\.isEmpty) }

    /// Waits for the next one.
    func next() throws -> Element {
        while true {
            wakeup.clear()
            let first = elements.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let first { return first }
            try Wait.until(readable: wakeup.descriptor.number, "something in the inbox")
        }
    }
}
