import DeviceCore
package import Vocabulary

/// A device in use whose user's habits with 50 apps are known, for what a decision about their
/// refreshes costs. What would run is not: nothing answers here.
package struct LearnedDevice {
    private var device = Device()
    private var effects: [Effect] = []
    private var random = SeededRandom(seed: 1)
    private var clock = Moment(
        boot: BootTime(nanoseconds: 0) + .hours(1),
        awake: AwakeTime(nanoseconds: 0) + .hours(1),
        wall: LocalTime(day: 20_454, timeOfDay: .zero).wall(utcOffset: 0),
        utcOffset: 0
    )

    package init() {
        var settings = Settings()
        settings.backgroundRefresh = false
        handle(.started(Start(bootID: "learned", seed: 1, settings: settings)))
        for app in 0..<50 {
            var manifest = AppManifest(id: AppID("app\(app)"), name: "App \(app)")
            manifest.modes = [.fetch]
            manifest.refreshCommand = ["refresh"]
            manifest.useFrom = .exec("app\(app)")
            handle(.manifests([.present(manifest)]))
        }
        for _ in 0..<20 * 48 {
            putDown(false, after: .minutes(25))
            handle(.used(anyApp()), after: .minutes(4))
            putDown(true, after: .minutes(1))
        }
        settings.backgroundRefresh = true
        settings.refreshesPerDay = 1
        handle(.settings(settings))
        putDown(false, after: .seconds(1))
    }

    /// Something is used, so that the next five minutes end in a decision.
    package mutating func use() { handle(.used(anyApp()), after: .minutes(1)) }

    package mutating func decide() { handle(.timer, after: .minutes(4)) }

    /// Nobody uses it any more, or again. After that the whole day ahead is looked through.
    package mutating func putDown(_ isIdle: Bool, after pause: Interval = .seconds(1)) {
        handle(.condition(.idle, .kernel, .value(isIdle ? 1 : 0)), after: pause)
    }

    private mutating func anyApp() -> AppID { AppID("app\(random.below(50) as Int)") }

    private mutating func handle(_ event: Event, after pause: Interval = .zero) {
        clock.boot = clock.boot + pause
        clock.awake = clock.awake + pause
        clock.wall = clock.wall + pause
        effects.removeAll(keepingCapacity: true)
        device.handle(event, at: clock, into: &effects)
    }
}
