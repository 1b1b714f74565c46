import AppProtocol
import Foundation
import Linux
@testable import Offstage
import TestKit
import Testing
import Vocabulary

/// The device as the library shows it.
struct DeviceTests {
    private let daemon: BenchDaemon
    private let session: TestSession

    init() throws { (daemon, session) = try TestSession.watching(Self.onBattery) }

    private static let onBattery: Value = [
        "battery": 62, "power": false, "network": "on", "metered": true, "low-power": false,
        "thermal": "fair",
    ]

    private func change(_ change: (inout ValueMap) -> Void) throws {
        var conditions = Self.onBattery.mapValue ?? [:]
        change(&conditions)
        _ = try daemon.tell("ConditionsChanged", [.map(conditions)]).get()
    }

    // MARK: Reading

    @Test func `the daemon is asked once, and what it tells afterwards is shown`() throws {
        #expect(session.session.greet() != nil)
        #expect(session.session.device.battery == 62)
        #expect(session.session.device.thermalState == .fair)
        #expect(!session.session.device.isLowPower)
        #expect(daemon.calls(of: "WatchConditions").count == 1)
        try change { $0["low-power"] = true }
        #expect(session.session.device.isLowPower)
        #expect(daemon.calls(of: "WatchConditions").count == 1)
    }

    @Test func `a process that said no hello is told nothing, and asks each time`() throws {
        #expect(session.session.device.battery == 62)
        daemon.behave("WatchConditions", .answer([["battery": 61]]))
        #expect(session.session.device.battery == 61)
    }

    @Test func `an app asks each daemon anew, and hears what has changed meanwhile`() throws {
        #expect(session.session.greet() != nil)
        let changes = Inbox<[Int64?]>()
        _ = session.session.observeDevice { changes.put([$0.battery, $1.battery]) }
        #expect(session.session.device.battery == 62)
        daemon.behave("WatchConditions", .answer([["battery": 40]]))
        try daemon.restart()
        #expect(try changes.next() == [62, 40])
        #expect(session.session.device.battery == 40)
    }

    @Test func `a daemon whose disk is full is asked again`() throws {
        daemon.behave("WatchConditions", .refuse(.storage, "no space"))
        #expect(session.session.greet() != nil)
        #expect(session.session.device.battery == nil)
        let changes = Inbox<Int64?>()
        _ = session.session.observeDevice { changes.put($1.battery) }
        daemon.behave("WatchConditions", .answer([["battery": 40]]))
        #expect(try changes.next() == 40)
    }

    @Test func `without a daemon nothing is known, and the app goes on as if all were well`()
        async throws
    {
        let alone = TestSession(nil)
        await expectNothing(alone)
        let monitor = NWPathMonitor(alone.session, interfaces: { [Self.wifi] })
        #expect(monitor.currentPath.status == .satisfied && !monitor.currentPath.isExpensive)
        let cutOff = NWPathMonitor(alone.session, interfaces: { [] })
        #expect(cutOff.currentPath.status == .unsatisfied, "nothing leads out")
    }

    @Test func `an older daemon is as none`() async throws {
        let old = try BenchDaemon(without: ["WatchConditions", "SetIdleTimer"])
        let session = TestSession(old.socket)
        #expect(session.session.greet() != nil)
        session.session.setIdleTimer(disabled: true)
        await expectNothing(session)
        // What it has works.
        _ = try session.session.call(App1.Limits())
        #expect(try old.next("Hello").first?["version"] == 1)
    }

    @MainActor
    private func expectNothing(_ session: TestSession) {
        let device = UIDevice(session.session)
        device.isBatteryMonitoringEnabled = true
        #expect(device.batteryLevel == -1 && device.batteryState == .unknown)
        #expect(!session.session.device.isLowPower)
        #expect(session.session.device.thermalState == .nominal)
    }

    @Test func `words of a later daemon are taken as far as they are known`() throws {
        daemon.behave("WatchConditions", .answer([["thermal": "molten", "later": 1]]))
        #expect(session.session.greet() != nil)
        #expect(session.session.device.thermalState == .nominal)
        try change { $0["thermal"] = "critical" }
        #expect(session.session.device.thermalState == .critical)
    }

    // MARK: The battery

    @MainActor
    @Test func `the battery is shown while it is monitored`() throws {
        #expect(session.session.greet() != nil)
        let device = UIDevice(session.session)
        #expect(device.batteryLevel == -1 && device.batteryState == .unknown)
        device.isBatteryMonitoringEnabled = true
        #expect(device.batteryLevel == 0.62 && device.batteryState == .unplugged)
        try change { $0["power"] = true }
        #expect(device.batteryState == .charging)
        try change { ($0["power"], $0["battery"]) = (true, 100) }
        #expect(device.batteryLevel == 1 && device.batteryState == .full)
        try change { ($0["power"], $0["battery"]) = (true, nil) }
        #expect(device.batteryLevel == -1 && device.batteryState == .charging)
        device.isBatteryMonitoringEnabled = false
        #expect(device.batteryLevel == -1 && device.batteryState == .unknown)
    }

    @Test func `each change of the battery is posted once, on the main thread`() async throws {
        #expect(session.session.greet() != nil)
        let device = await MainActor.run { UIDevice(session.session) }
        let posted = Inbox<String>()
        let names = [
            UIDevice.batteryLevelDidChangeNotification, UIDevice.batteryStateDidChangeNotification,
        ]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: device, queue: nil) {
                dispatchPrecondition(condition: .onQueue(.main))
                posted.put($0.name.rawValue)
            }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        await MainActor.run {
            device.isBatteryMonitoringEnabled = true
            _ = device.batteryLevel
        }
        try change { $0["thermal"] = "serious" }
        try change { $0["battery"] = 61 }
        #expect(try posted.next() == "UIDeviceBatteryLevelDidChangeNotification")
        try change { ($0["battery"], $0["power"]) = (61, true) }
        #expect(try posted.next() == "UIDeviceBatteryStateDidChangeNotification")
        await MainActor.run { device.isBatteryMonitoringEnabled = false }
        try change { $0["battery"] = 20 }
        await MainActor.run { #expect(posted.isEmpty) }
    }

    // MARK: Power and heat

    @Test func `low-power mode and heat are posted when they change, and only then`() throws {
        #expect(session.session.greet() != nil)
        let posted = Inbox<String>()
        let names = [PowerNotifications.powerState, PowerNotifications.thermalState]
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                posted.put($0.name.rawValue)
            }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        let notifications = PowerNotifications(session.session)
        notifications.begin()
        notifications.begin()
        try daemon.next("WatchConditions")
        try change { $0["battery"] = 61 }
        try change { $0["low-power"] = true }
        #expect(try posted.next() == "NSProcessInfoPowerStateDidChangeNotification")
        try change { ($0["low-power"], $0["thermal"]) = (true, "serious") }
        #expect(try posted.next() == "NSProcessInfoThermalStateDidChangeNotification")
        #expect(posted.isEmpty)
    }

    @Test func `the names are those that Foundation has elsewhere`() {
        #expect(
            NSNotification.Name.NSProcessInfoPowerStateDidChange.rawValue
                == "NSProcessInfoPowerStateDidChangeNotification"
        )
        #expect(
            ProcessInfo.thermalStateDidChangeNotification.rawValue
                == "NSProcessInfoThermalStateDidChangeNotification"
        )
    }

    // MARK: The network

    private static let wifi = NWInterface(name: "wlan0", type: .wifi, index: 3)

    private func monitor(
        required: NWInterface.InterfaceType? = nil,
        prohibited: [NWInterface.InterfaceType] = []
    ) -> NWPathMonitor {
        NWPathMonitor(
            session.session,
            required: required,
            prohibited: prohibited,
            interfaces: { [Self.wifi] }
        )
    }

    @Test func `a monitor tells the path as it is, then each other one`() throws {
        #expect(session.session.greet() != nil)
        let paths = Inbox<NWPath>()
        let monitor = monitor()
        monitor.pathUpdateHandler = { paths.put($0) }
        monitor.start(queue: DispatchQueue(label: "paths"))
        let first = try paths.next()
        #expect(first.status == .satisfied && first.isExpensive && !first.isConstrained)
        #expect(first.availableInterfaces == [Self.wifi])
        #expect(first.usesInterfaceType(.wifi) && !first.usesInterfaceType(.cellular))
        try change { $0["battery"] = 5 }
        try change { ($0["network"], $0["metered"]) = ("portal", false) }
        let second = try paths.next()
        #expect(second.status == .requiresConnection && !second.isExpensive)
        try change { $0["network"] = "off" }
        let third = try paths.next()
        #expect(third.status == .unsatisfied && third.availableInterfaces.isEmpty)
        #expect(!third.usesInterfaceType(.wifi) && monitor.currentPath == third)
        monitor.cancel()
        try change { $0["network"] = "on" }
        #expect(monitor.currentPath.status == .satisfied)
        monitor.queue?.sync {}
        #expect(paths.isEmpty, "it was cancelled")
    }

    @Test func `low-data mode alone makes another path, and none without a network`() throws {
        #expect(session.session.greet() != nil)
        let paths = Inbox<NWPath>()
        let monitor = monitor()
        monitor.pathUpdateHandler = { paths.put($0) }
        monitor.start(queue: DispatchQueue(label: "constrained"))
        let first = try paths.next()
        #expect(!first.isConstrained)
        try change { $0["low-data"] = true }
        let second = try paths.next()
        #expect(second.isConstrained && second.isExpensive && second != first)
        #expect(second.debugDescription == "satisfied (wlan0), expensive, constrained")
        try change { ($0["low-data"], $0["metered"]) = (true, false) }
        let third = try paths.next()
        #expect(third.isConstrained && !third.isExpensive)
        try change { ($0["low-data"], $0["network"]) = (true, "off") }
        let fourth = try paths.next()
        #expect(fourth.status == .unsatisfied && !fourth.isConstrained)
        // Nobody has set it.
        try change { $0["low-data"] = nil }
        #expect(try paths.next() == first)
    }

    @Test func `only the interfaces that are asked for count`() {
        #expect(session.session.greet() != nil)
        #expect(monitor(required: .wifi).currentPath.status == .satisfied)
        #expect(monitor(required: .cellular).currentPath.status == .unsatisfied)
        #expect(monitor(prohibited: [.wifi]).currentPath.status == .unsatisfied)
        #expect(monitor(prohibited: [.cellular]).currentPath.status == .satisfied)
    }

    @Test func `a sequence of paths ends with its monitor`() async throws {
        #expect(session.session.greet() != nil)
        let monitor = monitor()
        var statuses: [NWPath.Status] = []
        for await path in monitor {
            statuses.append(path.status)
            if path.status == .satisfied {
                try change { $0["network"] = "off" }
            } else {
                monitor.cancel()
            }
        }
        #expect(statuses == [.satisfied, .unsatisfied])
        for await _ in monitor { Issue.record("it was cancelled") }
    }

    @Test func `a sequence that nobody waits for any more ends its monitor`() async throws {
        #expect(session.session.greet() != nil)
        weak var kept: NWPathMonitor?
        do {
            let monitor = monitor()
            kept = monitor
            for await _ in monitor { break }
        }
        try Wait.until("it is gone") { kept == nil }
    }

    // MARK: The screen

    @Test func `the screen is kept on by each daemon, until the app lets it go`() async throws {
        let application = await MainActor.run { TestApp(session.session).application }
        await MainActor.run { application.isIdleTimerDisabled = true }
        #expect(try daemon.next("SetIdleTimer") == [true])
        await MainActor.run { application.isIdleTimerDisabled = true }
        try daemon.restart()
        #expect(try daemon.next("SetIdleTimer") == [true])
        await MainActor.run { application.isIdleTimerDisabled = false }
        #expect(try daemon.next("SetIdleTimer") == [false])
        try daemon.restart()
        try daemon.next("Hello")
        try daemon.next("Hello")
        try daemon.next("Hello")
        _ = try session.session.call(App1.Limits())
        #expect(daemon.calls(of: "SetIdleTimer").isEmpty, "the desktop does as it likes")
    }

    @Test func `what a full disk refuses is said again`() async throws {
        daemon.behave("SetIdleTimer", .refuse(.storage, "no space"))
        let application = await MainActor.run { TestApp(session.session).application }
        await MainActor.run { application.isIdleTimerDisabled = true }
        try daemon.next("SetIdleTimer")
        #expect(try daemon.next("SetIdleTimer") == [true])
    }
}
