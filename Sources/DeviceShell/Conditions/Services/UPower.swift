internal import DeviceCore
internal import Vocabulary

extension ServiceRow {
    /// The battery and the power line (https://upower.freedesktop.org/docs).
    static let upower = ServiceRow(
        source: .upower,
        name: "org.freedesktop.UPower",
        startsOnDemand: true,
        conditions: [.battery, .power],
        objects: { _, _ in [UPower.service, UPower.display] },
        read: { objects, _ in UPower.read(objects) }
    )
}

enum UPower {
    static let service = ServiceObject(
        path: "/org/freedesktop/UPower",
        interface: "org.freedesktop.UPower"
    )
    /// All batteries of the machine as one.
    static let display = ServiceObject(
        path: "/org/freedesktop/UPower/devices/DisplayDevice",
        interface: "org.freedesktop.UPower.Device"
    )

    private static let battery: Int64 = 2
    private static let ups: Int64 = 3

    static func read(_ objects: ServiceObjects) -> [Condition: Reading] {
        guard let isPresent = objects.value("IsPresent", of: display)?.boolValue,
            let kind = objects.value("Type", of: display)?.integerValue
        else { return [:] }
        guard isPresent, kind == battery || kind == ups else {
            return [.battery: .noDevice, .power: .noDevice]
        }
        var readings: [Condition: Reading] = [:]
        if let percent = objects.value("Percentage", of: display)?.doubleValue {
            readings[.battery] = .value(Int(min(max(percent, 0), 100).rounded()))
        }
        // By the line, and not by what the battery does: it may be full, or discharge on a line
        // that is too weak.
        if let isOnBattery = objects.value("OnBattery", of: service)?.boolValue {
            readings[.power] = .value(isOnBattery ? 0 : 1)
        }
        return readings
    }
}
