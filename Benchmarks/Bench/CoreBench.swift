import DeviceCore
import Linux
import Vocabulary

/// The core alone, with far more apps than a device has.
enum CoreBench {
    static func event() -> Figure {
        var device = Device()
        var effects: [Effect] = []
        var clock = Moment(
            boot: BootTime(nanoseconds: 3_600_000_000_000),
            awake: AwakeTime(nanoseconds: 3_600_000_000_000),
            wall: WallTime(nanoseconds: 1_767_261_600_000_000_000),
            utcOffset: 0
        )
        func handle(_ event: Event) {
            clock.boot = clock.boot + .milliseconds(10)
            clock.awake = clock.awake + .milliseconds(10)
            clock.wall = clock.wall + .milliseconds(10)
            effects.removeAll(keepingCapacity: true)
            device.handle(event, at: clock, into: &effects)
        }
        handle(.started(Start(bootID: "bench", seed: 7)))
        var reply: UInt64 = 0
        func submit(_ app: Int, _ task: Int) -> Event {
            reply += 1
            return .user(
                .submit(
                    Submission(
                        app: AppID("app\(app)"),
                        identifier: "app\(app).t\(task)",
                        kind: .processing,
                        after: .days(2)
                    )
                ),
                reply: ReplyToken(reply)
            )
        }
        for app in 0..<1000 {
            var manifest = AppManifest(id: AppID("app\(app)"), name: "App \(app)")
            manifest.exec = ["app"]
            manifest.modes = [.fetch, .processing]
            manifest.permittedTaskIdentifiers = ["app\(app).*"]
            handle(.manifests([.present(manifest)]))
            for task in 0..<10 { handle(submit(app, task)) }
        }
        var random = SeededRandom(seed: 1)
        var times: [Double] = []
        for _ in 0..<20_000 {
            let app = Int(random.below(1000))
            let task = Int(random.below(10))
            let event: Event
            switch random.below(4) {
            case 0: event = submit(app, task)
            case 1: event = .used(AppID("app\(app)"))
            case 2: event = .timer
            default:
                reply += 1
                event = .user(
                    .cancel(AppID("app\(app)"), identifier: "app\(app).t\(task)"),
                    reply: ReplyToken(reply)
                )
            }
            times.append(timed { handle(event) } / 1000)
        }
        return Figure(
            name: "core, one event, 1,000 apps and 10,000 requests, median",
            unit: "µs",
            ours: times.median,
            limit: .atMost(50)
        )
    }

    /// One decision point: how likely each of 50 apps is to be opened, after a year of use.
    static func prediction() -> Figure {
        var device = DeviceUse()
        var apps = [AppUse](repeating: AppUse(), count: 50)
        var random = SeededRandom(seed: 3)
        var wall = WallTime(nanoseconds: 1_767_261_600_000_000_000)
        for _ in 0..<20_000 {
            wall = wall + .seconds(random.within(60...2400))
            let app = Int(random.below(50))
            apps[app].opened(on: &device, at: UseTime(wall, utcOffset: 0))
            wall = wall + .seconds(60)
            apps[app].left(at: UseTime(wall, utcOffset: 0))
            device.left(at: UseTime(wall, utcOffset: 0))
        }
        var sum = 0.0
        let times = (Int64(0)..<2000).map { step in
            let now = UseTime(wall + .minutes(step * 5), utcOffset: 0)
            return timed {
                let context = PredictionContext(device, at: now)
                for app in apps { sum += context.chance(of: app) }
            } / 1000
        }
        precondition(sum > 0)
        return Figure(
            name: "prediction, one decision point of 50 apps, median",
            unit: "µs",
            ours: times.median,
            limit: .atMost(100)
        )
    }
}
