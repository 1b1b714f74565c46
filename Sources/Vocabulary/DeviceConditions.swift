/// What an app is told of the device that it runs on; nil: nobody knows.
package struct DeviceConditions: Hashable, Sendable, Codable {
    /// Charge in percent. A device without a battery is always full.
    package var battery: Int64?
    /// External power.
    package var power: Bool?
    package var network: Word<NetworkReach>?
    package var metered: Bool?
    package var lowData: Bool?
    package var lowPower: Bool?
    package var thermal: Word<ThermalLevel>?

    package init() {}

    private enum CodingKeys: String, CodingKey {
        case battery, power, network, metered, thermal
        case lowData = "low-data"
        case lowPower = "low-power"
    }
}

/// How far the network reaches.
package enum NetworkReach: String, Hashable, Sendable, Codable, CaseIterable {
    case off
    /// A sign-in page is in the way.
    case portal
    case on
}

/// How warm the device is.
package enum ThermalLevel: String, Hashable, Sendable, Codable, CaseIterable {
    case nominal, fair, serious, critical
}

/// How the device knows a condition.
package enum Sensing: String, CaseIterable, Hashable, Sendable, Codable {
    /// A source says it.
    case known
    /// A source has looked, and there is no such device: holds nothing back.
    case noDevice = "none"
    /// No source runs: holds back only what asks for this very condition.
    case unknown
    /// The source has vanished: the cautious value holds until one speaks.
    case lost
}
