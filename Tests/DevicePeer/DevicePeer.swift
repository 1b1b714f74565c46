import Offstage

/// An app that shows the device, in the words in which iOS apps do: what it is told is in its log.
@main
final class DevicePeer: UIResponder, UIApplicationDelegate {
    private let monitor = NWPathMonitor()
    private let queue = DispatchQueue(label: "network")
    private var observers: [NSObjectProtocol] = []
    private var sequence: Task<Void, Never>?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UIDevice.current.isBatteryMonitoringEnabled = true
        show(UIDevice.batteryLevelDidChangeNotification) {
            "level \(UIDevice.current.batteryLevel)"
        }
        show(UIDevice.batteryStateDidChangeNotification) { Self.battery }
        show(.NSProcessInfoPowerStateDidChange) {
            "low power \(ProcessInfo.processInfo.isLowPowerModeEnabled)"
        }
        show(ProcessInfo.thermalStateDidChangeNotification) {
            "thermal \(ProcessInfo.processInfo.thermalState)"
        }
        monitor.pathUpdateHandler = { path in
            let cost = path.isExpensive ? "expensive" : "free"
            say("path \(path.status) \(cost)\(path.isConstrained ? " constrained" : "")")
        }
        monitor.start(queue: queue)
        sequence = Task.detached {
            for await path in NWPathMonitor() { say("sequence \(path.status)") }
        }
        say(Self.battery)
        say("level \(UIDevice.current.batteryLevel)")
        application.isIdleTimerDisabled = true
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        Player.keepScreenOn(true)
        say("active")
    }

    // As iOS has it: what is read has been told before.
    func applicationWillEnterForeground(_ application: UIApplication) {
        say("back with \(UIDevice.current.batteryLevel), \(Self.battery)")
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        Player.keepScreenOn(false)
        say("left")
    }

    private func show(_ name: Notification.Name, _ text: @escaping () -> String) {
        observers.append(
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) { _ in
                say("posted \(text())")
            }
        )
    }

    /// From wherever it is asked: Apple's declarations let code of Swift 5 do so.
    private static var battery: String {
        switch UIDevice.current.batteryState {
        case .unknown: return "unknown"
        case .unplugged: return "unplugged"
        case .charging: return "charging"
        case .full: return "full"
        @unknown default: return "new"
        }
    }
}

/// No actor's, as such code is in Swift 5: called where something begins or ends to play.
enum Player {
    static func keepScreenOn(_ isPlaying: Bool) {
        UIApplication.shared.isIdleTimerDisabled = isPlaying
        say("screen kept on \(UIApplication.shared.isIdleTimerDisabled)")
    }
}

private func say(_ line: String) { print(line) }
