import Foundation
@testable import Offstage
import Testing
import Vocabulary

/// Several who follow the network at once, and those who come late or hear nothing.
struct PathMonitorTests {
    private let daemon: BenchDaemon
    private let session: TestSession

    init() throws { (daemon, session) = try TestSession.watching(Self.metered) }

    private static let metered: Value = ["battery": 62, "network": "on", "metered": true]
    private static let wifi = NWInterface(name: "wlan0", type: .wifi, index: 3)

    private func monitor(_ session: TestSession) -> NWPathMonitor {
        NWPathMonitor(session.session, interfaces: { [Self.wifi] })
    }

    private func change(network: String) throws {
        let conditions: ValueMap = ["battery": 62, "network": .string(network), "metered": true]
        _ = try daemon.tell("ConditionsChanged", [.map(conditions)]).get()
    }

    @Test func `a handler that is set after the start is told the path as it is`() throws {
        #expect(session.session.greet() != nil)
        let monitor = monitor(session)
        monitor.start(queue: DispatchQueue(label: "late"))
        // The path is known, and what follows from that was done, with nobody to be told.
        #expect(session.session.device.battery == 62)
        monitor.queue?.sync {}
        let paths = Inbox<NWPath>()
        monitor.pathUpdateHandler = { paths.put($0) }
        let first = try paths.next()
        #expect(first.isExpensive && first == monitor.currentPath)
        try change(network: "off")
        #expect(try paths.next().status == .unsatisfied)
    }

    @Test func `two monitors are each told every change, until each is cancelled`() throws {
        #expect(session.session.greet() != nil)
        let monitors = [monitor(session), monitor(session)]
        let paths = [Inbox<NWPath.Status>(), Inbox<NWPath.Status>()]
        for (monitor, inbox) in zip(monitors, paths) {
            monitor.pathUpdateHandler = { inbox.put($0.status) }
            monitor.start(queue: DispatchQueue(label: "paths"))
        }
        for inbox in paths { #expect(try inbox.next() == .satisfied) }
        try change(network: "off")
        for inbox in paths { #expect(try inbox.next() == .unsatisfied) }
        monitors[0].cancel()
        try change(network: "portal")
        #expect(try paths[1].next() == .requiresConnection)
        monitors[0].queue?.sync {}
        #expect(paths[0].isEmpty, "it was cancelled")
        #expect(daemon.calls(of: "WatchConditions").count == 1, "the daemon is asked once")
    }

    @Test func `two loops over one monitor each see every change, and end apart`() async throws {
        #expect(session.session.greet() != nil)
        let monitor = monitor(session)
        // Nothing here blocks a thread that the loops need.
        let (first, firstLoop) = AsyncStream.makeStream(of: NWPath.Status.self)
        let (second, secondLoop) = AsyncStream.makeStream(of: NWPath.Status.self)
        var (firstSeen, secondSeen) = (first.makeAsyncIterator(), second.makeAsyncIterator())
        let short = Task.detached {
            for await path in monitor {
                firstLoop.yield(path.status)
                if path.status == .unsatisfied { break }
            }
            firstLoop.finish()
        }
        let long = Task.detached {
            for await path in monitor { secondLoop.yield(path.status) }
            secondLoop.finish()
        }
        #expect(await firstSeen.next() == .satisfied)
        #expect(await secondSeen.next() == .satisfied)
        try change(network: "off")
        #expect(await firstSeen.next() == .unsatisfied)
        #expect(await secondSeen.next() == .unsatisfied)
        await short.value
        try change(network: "portal")
        #expect(await secondSeen.next() == .requiresConnection)
        monitor.cancel()
        await long.value
        #expect(await firstSeen.next() == nil)
        #expect(await secondSeen.next() == nil)
    }

    @Test func `a daemon that says nothing leaves what holds without one, and is heard later`()
        async throws
    {
        daemon.behave("WatchConditions", .silence)
        let impatient = TestSession(daemon.socket, ticks: 2)
        _ = impatient.session.greet()
        let monitor = monitor(impatient)
        let paths = Inbox<NWPath>()
        monitor.pathUpdateHandler = { paths.put($0) }
        monitor.start(queue: DispatchQueue(label: "silence"))
        let first = try paths.next()
        #expect(first.status == .satisfied && !first.isExpensive, "the interface leads out")
        #expect(impatient.session.device == DeviceConditions())
        #expect(!impatient.session.device.isLowPower)
        #expect(impatient.session.device.thermalState == .nominal)
        await MainActor.run {
            let device = UIDevice(impatient.session)
            device.isBatteryMonitoringEnabled = true
            #expect(device.batteryLevel == -1 && device.batteryState == .unknown)
        }
        try daemon.next("WatchConditions")
        try daemon.answerTheSilent([Self.metered])
        #expect(try paths.next().isExpensive)
        #expect(impatient.session.device.battery == 62)
        #expect(daemon.calls(of: "WatchConditions").isEmpty, "it was asked once")
    }
}
