internal import DeviceCore
internal import Vocabulary

extension ServiceRow {
    /// Low-power mode, as the user or the desktop turns it on
    /// (https://upower.pages.freedesktop.org/power-profiles-daemon). The older of its two names,
    /// which every version has.
    static let powerProfiles = ServiceRow(
        source: .powerProfiles,
        name: "net.hadess.PowerProfiles",
        startsOnDemand: true,
        conditions: [.lowPower],
        objects: { _, _ in [PowerProfiles.service] },
        read: { objects, _ in PowerProfiles.read(objects) }
    )
}

enum PowerProfiles {
    static let service = ServiceObject(
        path: "/net/hadess/PowerProfiles",
        interface: "net.hadess.PowerProfiles"
    )

    static func read(_ objects: ServiceObjects) -> [Condition: Reading] {
        guard let profile = objects.value("ActiveProfile", of: service)?.stringValue else {
            return [:]
        }
        return [.lowPower: .value(profile == "power-saver" ? 1 : 0)]
    }
}
