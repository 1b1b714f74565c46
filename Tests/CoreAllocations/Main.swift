import DeviceCore
import Glibc
import TestKit
import Vocabulary

/// Counts what the core asks of malloc for one event, and fails above what is recorded here: a core
/// that allocates more than it did is a mistake, or a new limit with a reason.
///
/// A program of its own and no test of the runner, because it says something in release only, where
/// it can be built in seconds.
@main
struct CoreAllocations {
    /// What happens, the most allocations that it may take, and one more of it.
    struct Row: Sendable {
        var name: String
        var limit: Int
        var event: @Sendable (inout CountedDevice) -> Event
    }

    static let rows = [
        Row(name: "timer, nothing due", limit: 0) { _ in .timer },
        Row(name: "battery, no answer changes", limit: 0) { device in
            .condition(.battery, .kernel, .value(60 + device.turn % 20))
        },
        Row(name: "external power comes and goes", limit: 0) { device in
            .condition(.power, .kernel, .value(device.turn % 2))
        },
        Row(name: "use of an app", limit: 9) { device in .used(device.app) },
        Row(name: "request replaced", limit: 8) { device in
            .user(device.submission, reply: device.reply)
        },
        Row(name: "request cancelled", limit: 5) { device in
            .user(.cancel(device.app, identifier: "none"), reply: device.reply)
        },
    ]

    static func main() {
        guard AllocationCounter.isAvailable else { return print("skipped: a sanitizer counts") }
        var isGood = true
        for row in rows {
            var device = CountedDevice()
            let counts = (0..<200).map { _ in device.handle(row.event) }
            isGood = report(row.name, counts.median, limit: row.limit) && isGood
        }
        isGood = predicts() && isGood
        isGood = decides() && isGood
        exit(isGood ? 0 : 1)
    }
}

extension CoreAllocations {
    private static func report(_ name: String, _ count: Int, limit: Int) -> Bool {
        let isGood = count <= limit
        print("\(isGood ? "ok  " : "FAIL") \(name): \(count) allocations, at most \(limit)")
        return isGood
    }

    /// Asking about an app's next open allocates nothing.
    private static func predicts() -> Bool {
        var device = DeviceUse()
        var apps = [AppUse](repeating: AppUse(), count: 50)
        var wall = LocalTime(day: 20_513, timeOfDay: .hours(12)).wall(utcOffset: 0)
        for turn in 0..<500 {
            wall = wall + .minutes(20)
            apps[turn % 50].opened(on: &device, at: UseTime(wall, utcOffset: 0))
            apps[turn % 50].left(at: UseTime(wall, utcOffset: 0))
            device.left(at: UseTime(wall, utcOffset: 0))
        }
        var sum = PredictionContext(device, at: UseTime(wall, utcOffset: 0)).chance(of: apps[0])
        let count = AllocationCounter.count {
            let context = PredictionContext(device, at: UseTime(wall + .hours(9), utcOffset: 0))
            for app in apps { sum += context.chance(of: app) }
        }
        return report("chances of 50 apps", sum > 0 ? count : .max, limit: 0)
    }

    /// Nor does deciding what to refresh: at the end of five minutes of use, and with the whole day
    /// ahead looked through when the device is put down. Four times in five; a refresh that
    /// begins, and midnight, have something to write down.
    private static func decides() -> Bool {
        var device = LearnedDevice()
        var looks: [Int] = []
        var decisions: [Int] = []
        // Room for the chances of a day is made on the first.
        for turn in 0..<600 {
            let look = AllocationCounter.count { device.putDown(true) }
            device.putDown(false)
            let decision = AllocationCounter.count { device.decide() }
            if turn >= 300 { (looks, decisions) = (looks + [look], decisions + [decision]) }
        }
        let isGood = report("decision about 50 apps in use", decisions.most, limit: 0)
        return report("the day ahead of 50 apps", looks.most, limit: 0) && isGood
    }
}

/// A device with 30 apps whose requests wait, as most of the time.
struct CountedDevice {
    private var device = Device()
    private var effects: [Effect] = []
    private(set) var turn = 0
    private var now = Moment(
        boot: BootTime(nanoseconds: 0) + .hours(1),
        awake: AwakeTime(nanoseconds: 0) + .hours(1),
        wall: LocalTime(day: 20_513, timeOfDay: .hours(12)).wall(utcOffset: 0),
        utcOffset: 0
    )

    private static let apps = (0..<30).map { AppID("app\($0)") }
    var app: AppID { Self.apps[turn % 30] }
    var reply: ReplyToken { ReplyToken(UInt64(turn)) }
    var submission: UserRequest {
        .submit(
            Submission(app: app, identifier: "clean", kind: .processing, needs: Needs(power: true))
        )
    }

    init() {
        feed(.started(Start(bootID: "boot", seed: 1)))
        feed(.condition(.power, .hand, .value(0)))
        feed(.condition(.idle, .hand, .value(0)))
        for app in Self.apps {
            var manifest = AppManifest(id: app, name: app.name, exec: ["app"])
            manifest.modes = [.fetch, .processing]
            manifest.permittedTaskIdentifiers = ["clean"]
            feed(.manifests([.present(manifest)]))
            feed(.user(submission, reply: reply))
            turn += 1
        }
    }

    /// How many allocations one more event takes; making it is not counted.
    mutating func handle(_ event: (inout CountedDevice) -> Event) -> Int {
        turn += 1
        let event = event(&self)
        return AllocationCounter.count { feed(event) }
    }

    private mutating func feed(_ event: Event) {
        now.boot = now.boot + .milliseconds(10)
        now.awake = now.awake + .milliseconds(10)
        now.wall = now.wall + .milliseconds(10)
        effects.removeAll(keepingCapacity: true)
        device.handle(event, at: now, into: &effects)
    }
}

extension [Int] {
    fileprivate var median: Int { sorted()[count / 2] }
    /// That 80 % do not exceed.
    fileprivate var most: Int { sorted()[count * 4 / 5] }
}
