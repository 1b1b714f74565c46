package import Vocabulary

/// What the store knows of a device.
package struct DeviceRecord: Equatable, Sendable {
    package struct Stored: Equatable, Sendable {
        package var app: AppNumber
        package var number: PushNumber
        package var expiration: WallTime
        package var collapse: CollapseKey

        package init(
            app: AppNumber,
            number: PushNumber,
            expiration: WallTime,
            collapse: CollapseKey = .none
        ) {
            (self.app, self.number, self.expiration) = (app, number, expiration)
            self.collapse = collapse
        }
    }

    package var registrations: [Registration]
    /// One per app at most.
    package var stored: [Stored]

    package init(registrations: [Registration] = [], stored: [Stored] = []) {
        (self.registrations, self.stored) = (registrations, stored)
    }
}
