public import Foundation
internal import Linux
internal import Vocabulary

/// The device that the app runs on.
///
/// The battery is what the daemon knows of it, and what `offstage set battery` and `offstage set
/// power` say. Without a daemon it is as it was known last, and not known if there never was one.
@preconcurrency @MainActor
public class UIDevice: NSObject {
    /// The device.
    public class var current: UIDevice { theOnly }
    private static let theOnly = UIDevice(.shared)

    private let session: AppSession
    private var observer: UInt64?

    init(_ session: AppSession) {
        self.session = session
        super.init()
    }

    // MARK: What it is

    /// The name of the device in its network.
    public var name: String { ProcessInfo.processInfo.hostName }

    /// What the maker calls it; `Linux` where nobody has said.
    public var model: String { Self.identity.model }

    /// The same as ``model``.
    public var localizedModel: String { model }

    /// The name of the operating system, such as `Debian GNU/Linux`.
    public var systemName: String { Self.identity.systemName }

    /// The version of the operating system; of one that has none, that of its kernel.
    public var systemVersion: String { Self.identity.systemVersion }

    private static let identity = DeviceIdentity()

    // MARK: The battery

    /// How the battery is fed.
    public enum BatteryState: Int, Sendable {
        /// Not known, or not asked for.
        case unknown = 0
        /// Not on external power.
        case unplugged = 1
        /// On external power, and not full.
        case charging = 2
        /// On external power, and full: also a device without a battery.
        case full = 3
    }

    /// Whether the app wants to know of the battery. False until it is set.
    public var isBatteryMonitoringEnabled = false {
        didSet {
            guard isBatteryMonitoringEnabled != oldValue else { return }
            if isBatteryMonitoringEnabled { observe() } else { stopObserving() }
        }
    }

    /// Charge from 0 to 1; -1 if it is not known, or not asked for.
    public var batteryLevel: Float {
        isBatteryMonitoringEnabled ? session.device.batteryLevel : -1
    }

    /// How the battery is fed.
    public var batteryState: BatteryState {
        isBatteryMonitoringEnabled ? session.device.batteryState : .unknown
    }

    /// The charge has changed: posted on the main thread while the battery is monitored.
    public nonisolated static let batteryLevelDidChangeNotification = NSNotification.Name(
        "UIDeviceBatteryLevelDidChangeNotification"
    )

    /// ``batteryState-swift.property`` has changed: posted on the main thread while the battery is
    /// monitored.
    public nonisolated static let batteryStateDidChangeNotification = NSNotification.Name(
        "UIDeviceBatteryStateDidChangeNotification"
    )

    private func observe() {
        observer = session.observeDevice { [weak self] before, now in
            let (level, state) = (
                before.batteryLevel != now.batteryLevel, before.batteryState != now.batteryState
            )
            guard level || state else { return }
            DispatchQueue.main.async {
                MainActor.assumeIsolated { self?.changed(level: level, state: state) }
            }
        }
    }

    private func stopObserving() {
        if let observer { session.stopObservingDevice(observer) }
        observer = nil
    }

    private func changed(level: Bool, state: Bool) {
        guard isBatteryMonitoringEnabled else { return }
        if level { post(Self.batteryLevelDidChangeNotification) }
        if state { post(Self.batteryStateDidChangeNotification) }
    }

    private func post(_ name: NSNotification.Name) {
        NotificationCenter.default.post(name: name, object: self)
    }
}

extension DeviceConditions {
    fileprivate var batteryLevel: Float { battery.map { Float($0) / 100 } ?? -1 }

    fileprivate var batteryState: UIDevice.BatteryState {
        switch power {
        case nil: .unknown
        case false?: .unplugged
        case true?: battery.map { $0 < 100 } ?? true ? .charging : .full
        }
    }
}
