public import Foundation
internal import Synchronization
internal import Vocabulary

/// Whether the device saves power, and how warm it is: what Foundation on Linux lacks.
extension ProcessInfo {
    /// How warm the device is.
    public enum ThermalState: Int, Sendable {
        /// Nothing needs to be done.
        case nominal = 0
        /// A little warm: what can wait should.
        case fair = 1
        /// Warm: the device does less, and so should the app.
        case serious = 2
        /// Hot: the app should stop all that it can.
        case critical = 3
    }

    /// Whether the user has turned on low-power mode. False where nobody knows.
    public var isLowPowerModeEnabled: Bool { PowerNotifications.shared.device.isLowPower }

    /// How warm the device is. ``ThermalState-swift.enum/nominal`` where nobody knows.
    public var thermalState: ThermalState { PowerNotifications.shared.device.thermalState }

    /// ``thermalState-swift.property`` has changed: posted on a background thread.
    public static var thermalStateDidChangeNotification: NSNotification.Name {
        PowerNotifications.shared.begin()
        return PowerNotifications.thermalState
    }
}

extension NSNotification.Name {
    /// `ProcessInfo.isLowPowerModeEnabled` has changed: posted on a background thread.
    public static var NSProcessInfoPowerStateDidChange: NSNotification.Name {
        PowerNotifications.shared.begin()
        return PowerNotifications.powerState
    }
}

extension DeviceConditions {
    var isLowPower: Bool { lowPower ?? false }

    var thermalState: ProcessInfo.ThermalState {
        switch thermal?.known {
        case .nominal, nil: .nominal
        case .fair: .fair
        case .serious: .serious
        case .critical: .critical
        }
    }
}

/// Posts both notifications from the first time that either is named by its constant, or that a
/// property is read. Code that observes the text of a name and reads neither is told nothing.
final class PowerNotifications: Sendable {
    static let powerState = NSNotification.Name("NSProcessInfoPowerStateDidChangeNotification")
    static let thermalState = NSNotification.Name("NSProcessInfoThermalStateDidChangeNotification")
    static let shared = PowerNotifications(.shared)

    private let session: AppSession
    private let hasBegun = Atomic(false)

    init(_ session: AppSession) { self.session = session }

    var device: DeviceConditions {
        begin()
        return session.device
    }

    func begin() {
        guard !hasBegun.exchange(true, ordering: .relaxed) else { return }
        _ = session.observeDevice { before, now in
            if before.isLowPower != now.isLowPower { Self.post(Self.powerState) }
            if before.thermalState != now.thermalState { Self.post(Self.thermalState) }
        }
    }

    /// Not on the link's thread, which must not be kept waiting.
    private static func post(_ name: NSNotification.Name) {
        DispatchQueue.global().async {
            NotificationCenter.default.post(name: name, object: ProcessInfo.processInfo)
        }
    }
}
