internal import DeviceCore
internal import Vocabulary

extension ServiceRow {
    /// The battery and the power line (https://upower.freedesktop.org/docs).
    static let upower = ServiceRow(
        source: .upower,
        name: "org.freedesktop.UPower",
        startsOnDemand: true,
        rereadAfter: ["DeviceAdded", "DeviceRemoved"].map {
            ServiceMember(object: UPower.service, member: $0)
        },
        listing: ServiceMember(object: UPower.service, member: "EnumerateDevices"),
        conditions: [.battery, .power],
        objects: { known, _ in [UPower.service, UPower.display] + UPower.lines(known) },
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
        path: devices + "DisplayDevice",
        interface: device
    )
    private static let devices = "/org/freedesktop/UPower/devices/"
    private static let device = "org.freedesktop.UPower.Device"

    /// The power lines. UPower names each object by what it is.
    static func lines(_ objects: ServiceObjects) -> [ServiceObject] {
        objects.listed.filter { $0.hasPrefix(devices + "line_power_") }
            .map { ServiceObject(path: $0, interface: device) }
    }

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
        if let isOnline = isOnline(objects) { readings[.power] = .value(isOnline ? 1 : 0) }
        return readings
    }

    /// By the lines, and not by what the battery does: it may be full, or discharge on a line that
    /// is too weak. `OnBattery` is true only while a battery says that it discharges.
    private static func isOnline(_ objects: ServiceObjects) -> Bool? {
        let lines = lines(objects).map { objects.value("Online", of: $0)?.boolValue }
        if lines.contains(true) { return true }
        if !lines.isEmpty, !lines.contains(nil) { return false }
        return objects.value("OnBattery", of: service)?.boolValue.map(!)
    }
}
