/// What a device says of itself, when it connects and with its keep-alives.
package struct DeviceCondition: Equatable, Sendable {
    /// Nil: it has none, or does not say.
    package var batteryPercent: Int?
    package var isOnMains: Bool
    package var isLowPower: Bool
    /// Wi-Fi or cable, not paid by volume.
    package var isUnmetered: Bool
    /// Silent wakes that it counted in its last 24 hours on battery; nil: it does not say.
    package var silentWakes: Int?

    package init(
        batteryPercent: Int? = nil,
        isOnMains: Bool = true,
        isLowPower: Bool = false,
        isUnmetered: Bool = true,
        silentWakes: Int? = nil
    ) {
        (self.batteryPercent, self.isOnMains) = (batteryPercent, isOnMains)
        (self.isLowPower, self.isUnmetered) = (isLowPower, isUnmetered)
        self.silentWakes = silentWakes
    }
}
