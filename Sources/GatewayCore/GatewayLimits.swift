package import Vocabulary

/// The numbers of the gateway's behaviour, each a setting of the same name.
package struct GatewayLimits: Equatable, Sendable {
    /// Silent pushes to one app on one device: so many at once, and one more after each interval.
    package var silentBurst = 3
    package var silentRefill = Interval.minutes(20)
    /// Silent wakes of one device in 24 hours on battery.
    package var silentPerDay = 24
    /// Percent of charge under which no silent push goes to the device.
    package var silentBattery = 20
    /// How long a device has to acknowledge before the push is stored.
    package var acknowledgement = Interval.seconds(2)
    /// Pushes on their way to one device; more are stored.
    package var unacknowledged = 64
    /// The longest that a push is kept.
    package var storage = Interval.days(30)
    /// Messages of Web Push that are kept for one app on one device.
    package var webPushKept = 16
    /// How long the log knows what became of a push.
    package var logAge = Interval.days(7)
    /// Pushes to one token: so many at once, and as many a second. No honest sender gets there.
    package var tokenBurst = 1000
    package var tokenRate = 200
    /// Apps that devices may make known in all, beside those that keys name; and how many that were
    /// never heard of: so many at once, and one more after each interval.
    package var apps = 100_000
    package var newApps = 1000
    package var newAppRefill = Interval.seconds(10)
    /// Apps registered on one device.
    package var appsPerDevice = 200
    /// A device that was not seen for so long is taken for gone; and how long the gateway must have
    /// served before it says so of any.
    package var deviceAge = Interval.days(90)
    package var deviceGrace = Interval.hours(24)
    /// Devices that are away and yet kept in memory.
    package var devicesInMemory = 50_000
    /// Of a provider's token on one connection: its age, and how often it may change.
    package var tokenAge = Interval.hours(1)
    package var tokenRenewal = Interval.minutes(20)
    /// Broadcast channels of one app; 0: there are none.
    package var channelsPerApp = 10_000
    /// Channels that one device follows.
    package var channelsPerDevice = 100
    /// How long a channel's newest message is kept at most.
    package var channelStorage = Interval.hours(8)

    package init() {}
}
