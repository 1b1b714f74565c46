package import Vocabulary

/// What the store knows of a device.
package struct StoredDevice: Equatable, Sendable {
    package struct Stored: Equatable, Sendable {
        package var app: AppNumber
        package var place: UInt8
        package var number: PushNumber
        package var expiration: WallTime
        package var collapse: CollapseKey

        package init(
            app: AppNumber,
            place: UInt8 = 0,
            number: PushNumber,
            expiration: WallTime,
            collapse: CollapseKey = .none
        ) {
            (self.app, self.place, self.number) = (app, place, number)
            (self.expiration, self.collapse) = (expiration, collapse)
        }
    }

    /// There is such a device, and it was not removed.
    package var isKnown = true
    package var registrations: [Registration]
    /// No two of an app at one place.
    package var stored: [Stored]
    /// When it was seen last; a day late at most.
    package var seen: WallTime

    package init(
        registrations: [Registration] = [],
        stored: [Stored] = [],
        seen: WallTime = WallTime(nanoseconds: 0)
    ) {
        (self.registrations, self.stored, self.seen) = (registrations, stored, seen)
    }
}
