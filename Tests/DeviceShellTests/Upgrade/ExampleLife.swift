import DeviceCore
import DeviceShell
import Linux
import SQLite
import Vocabulary

/// Five weeks of a device and its user, whose habits it learns. What they leave in a state
/// directory is what a fixture is made of: something of every kind.
struct ExampleLife {
    private static let firstDay: Int64 = 20_514
    private static let utcOffset: Int32 = 3600
    private static let dayCount: Int64 = 37

    private static let (newsboat, weather) = (AppID("newsboat"), AppID("weather"))
    private static let (mail, radio) = (AppID("mail"), AppID("radio"))
    private static let (photos, atlas) = (AppID("photos"), AppID("atlas"))
    private static let backup = AppID("backup")

    /// The apps that speak our protocol, with the identifiers that they register.
    static let linked = [
        mail: ["mail.refresh", "mail.index", "mail.clean.*"], radio: [], photos: ["photos.*"],
        atlas: ["atlas.tiles"],
    ]

    private(set) var world: VirtualWorld
    private var random = SeededRandom(seed: 5)
    private var day: Int64 = 0

    /// `manifests`: of the apps that are there to the end.
    init(in store: Store, _ manifests: [AppManifest], boot: String) {
        let start = LocalTime(day: Self.firstDay, timeOfDay: .hours(6)).wall(
            utcOffset: Self.utcOffset
        )
        world = VirtualWorld(
            store,
            at: Moment(
                boot: BootTime(nanoseconds: 0) + .hours(1),
                awake: AwakeTime(nanoseconds: 0) + .hours(1),
                wall: start,
                utcOffset: Self.utcOffset
            )
        )
        world.linked = Self.linked
        world.runTime = { $0 == Self.backup ? .minutes(12) : .seconds(6) }
        world.feed(.started(Self.start(boot, manifests)))
    }

    static func start(_ boot: String, _ manifests: [AppManifest]) -> Start {
        var settings = Settings()
        settings.refreshesPerDay = 6
        var start = Start(bootID: boot, seed: 2_468_013_579, settings: settings)
        start.manifests = manifests.map { .present($0) }
        start.conditions = [
            ConditionReport(.battery, .kernel, .value(80)),
            ConditionReport(.power, .kernel, .value(0)),
            ConditionReport(.network, .kernel, .value(2)),
            ConditionReport(.metered, .kernel, .value(0)),
            ConditionReport(.locked, .kernel, .value(0)),
            ConditionReport(.idle, .kernel, .value(1)),
        ]
        return start
    }

    // MARK: Steps

    private mutating func at(_ hours: Int64, _ minutes: Int64 = 0, jitter: Int = 0) {
        let spread = jitter == 0 ? 0 : Int64(random.below(2 * jitter) - jitter)
        let time = Interval.hours(hours) + .minutes(minutes + spread)
        world.live(
            until: LocalTime(day: Self.firstDay + day, timeOfDay: time).wall(
                utcOffset: Self.utcOffset
            )
        )
    }

    private mutating func report(_ condition: Condition, _ value: Int) {
        world.feed(.condition(condition, .kernel, .value(value)))
    }

    private mutating func open(_ app: AppID, minutes: Int64) {
        world.ask(.open(app, attach: nil))
        world.live(for: .minutes(minutes))
    }

    private mutating func see(_ app: AppID) {
        world.feed(.used(app))
        world.live(for: .minutes(3))
    }

    private mutating func submit(
        _ app: AppID,
        _ identifier: String,
        _ kind: TaskKind,
        after: Interval,
        _ needs: Needs = Needs()
    ) {
        var submission = Submission(identifier: identifier, kind: kind, needs: needs)
        submission.earliest = world.now.wall + after
        world.say(app) { .submit(submission, reply: $0) }
    }

    private mutating func submit(
        command name: String,
        _ kind: TaskKind,
        every: Interval? = nil,
        _ needs: Needs = Needs()
    ) {
        var submission = Submission(identifier: name, kind: kind, needs: needs)
        submission.command = ["/opt/example/" + name, "--all"]
        submission.directory = "/opt/example"
        submission.environment = [EnvironmentVariable(name: "SHELF", value: "2")]
        submission.token = "\(name)-\(day)"
        if kind == .processing { submission.after = .hours(2) }
        submission.every = every
        world.ask(.submit(submission))
    }

    private mutating func readMail(minutes: Int64) {
        open(Self.mail, minutes: minutes)
        submit(Self.mail, "mail.refresh", .refresh, after: .hours(1))
        world.ask(.leave(Self.mail))
    }

    // MARK: Days

    mutating func liveToTheEnd(_ manifests: [AppManifest]) {
        while day < Self.dayCount {
            breakThings()
            liveThroughTheDay(manifests)
            day += 1
        }
        lastDay()
    }

    private mutating func breakThings() {
        let isWorn = day >= 33
        world.usually = { app in
            switch app {
            case Self.weather: isWorn ? .exit(1) : .exit(0)
            case AppID("command.sync"): .stays
            default: .exit(0)
            }
        }
        switch day {
        case 26: world.next[Self.weather] = [.notStarted("execve: No such file or directory")]
        case 25: world.next[Self.newsboat] = [.crash(11)]
        case 27: world.next[Self.newsboat] = [.exit(75), .exit(0), .stays]
        case 28: world.next[Self.mail] = [.crash(6), .exit(3), .stays]
        case 30: world.next[Self.newsboat] = [.exit(4)]
        default: world.next[Self.weather] = [.exit(3)]
        }
    }

    private mutating func liveThroughTheDay(_ manifests: [AppManifest]) {
        at(7, 10, jitter: 10)
        report(.power, 0)
        report(.idle, 0)
        see(Self.newsboat)
        readMail(minutes: 4)
        report(.idle, 1)
        somethingOnce(manifests)
        at(12, 30, jitter: 8)
        report(.idle, 0)
        see(Self.weather)
        readMail(minutes: 2)
        report(.idle, 1)
        at(18, 0, jitter: 20)
        report(.idle, 0)
        open(Self.radio, minutes: 15)
        world.say(Self.radio) { .fetchInterval(.every(.hours(4)), reply: $0) }
        world.ask(.leave(Self.radio))
        at(20, 30, jitter: 15)
        see(Self.newsboat)
        readMail(minutes: 5)
        report(.idle, 1)
        at(22, 30)
        report(.power, 1)
    }

    /// What does not happen every day.
    private mutating func somethingOnce(_ manifests: [AppManifest]) {
        at(10)
        switch day {
        case 24:
            submit(command: "count", .refresh, every: .hours(12))
        case 26:
            world.ask(.run(Self.newsboat, identifier: nil))
            world.live(for: .seconds(2))
            world.ask(.pause(.hours(1)))
        case 27:
            world.ask(.simulate(.launch, Self.newsboat, identifier: nil))
        case 29:
            open(Self.photos, minutes: 3)
            submit(Self.photos, "photos.sort", .processing, after: .hours(2))
            world.ask(.cancel(Self.photos, identifier: "photos.sort"))
            world.say(Self.photos) {
                .mistaken(.registeredLate, subject: "photos.faces", reply: $0)
            }
            world.ask(.close(Self.photos))
        case 31:
            submit(command: "sync", .refresh)
            world.live(for: .seconds(3))
            world.reboot(after: .minutes(4))
            world.feed(.started(Self.start("boot-2", manifests)))
            // What was asked for before the reboot is not to stay for ever.
            world.ask(.cancel(AppID("command.sync"), identifier: nil))
        case 33:
            // One is there at the end, and one waits.
            let urls = ["https://example.org/map.zip", "https://example.org/later.zip"]
            var orders = urls.map { TransferOrder(url: $0, directory: "/home/example") }
            orders[1].earliest = world.now.wall + .days(30)
            orders[1].resourceTimeout = .days(60)
            world.ask(.transfer(.enqueue(orders, token: "transfers")))
            // And one that is sent in parts.
            let source = FileIdentity(size: 4096, modified: 1_772_366_400_000_000_000, inode: 12)
            var order = TransferOrder(
                url: "https://example.org/in",
                direction: .upload(.init(method: .post, source: source, mayRepeat: false)),
                directory: "/home/example",
                name: "photo.jpg"
            )
            order.resourceTimeout = .days(60)
            world.ask(.transfer(.enqueue([order], token: nil)))
        case 34:
            useAtlas()
        default: break
        }
    }

    /// An app that is there for a day, and leaves a request.
    private mutating func useAtlas() {
        var manifest = AppManifest(id: Self.atlas, name: "Atlas", exec: ["/opt/example/atlas"])
        manifest.modes = [.processing]
        manifest.permittedTaskIdentifiers = ["atlas.tiles"]
        world.feed(.manifests([.present(manifest)]))
        open(Self.atlas, minutes: 3)
        submit(Self.atlas, "atlas.tiles", .processing, after: .days(40), Needs(power: true))
        world.ask(.leave(Self.atlas))
        world.live(for: .minutes(1))
        if let launch = world.launch(of: Self.atlas) {
            world.feed(.process(launch, .exited(.status(0), nil)))
        }
        world.feed(.manifests([.removed(Self.atlas)]))
    }

    /// It ends in the middle of things.
    private mutating func lastDay() {
        at(7, 10)
        report(.power, 0)
        report(.idle, 0)
        see(Self.newsboat)
        readMail(minutes: 4)
        report(.idle, 1)
        at(13, 30)
        world.ask(.override(.metered, .value(1)))
        report(.idle, 0)
        open(Self.photos, minutes: 4)
        submit(Self.photos, "photos.sort", .processing, after: .hours(8))
        world.ask(.close(Self.photos))
        at(13, 50)
        open(Self.mail, minutes: 4)
        submit(Self.mail, "mail.refresh", .refresh, after: .hours(1))
        submit(Self.mail, "mail.index", .processing, after: .hours(3), Needs(power: true))
        let all = Needs(power: true, network: true, unmetered: true, unlocked: true)
        submit(Self.mail, "mail.clean.inbox", .processing, after: .days(2), all)
        submit(Self.mail, "mail.clean.drafts", .processing, after: .minutes(20))
        world.ask(.leave(Self.mail))
        submit(command: "tidy", .processing, every: .hours(6), Needs(power: true, unmetered: true))
        at(14)
        report(.idle, 1)
        report(.power, 1)
        world.ask(.run(Self.backup, identifier: nil))
        world.live(for: .minutes(2))
        report(.power, 0)
        report(.idle, 0)
        open(Self.radio, minutes: 1)
        world.say(Self.radio) {
            .taskBegan(name: "upload", hasHandler: true, token: "upload-1", reply: $0)
        }
        submit(command: "sync", .refresh)
        world.next[Self.mail] = [.stays]
        world.ask(.simulate(.launch, Self.mail, identifier: "mail.clean.drafts"))
        world.live(for: .seconds(4))
    }

    /// A morning, and no more work for three hours.
    mutating func pauseInTheMorning() {
        at(7, 10)
        report(.idle, 0)
        see(Self.newsboat)
        open(Self.radio, minutes: 2)
        world.ask(.pause(.hours(3)))
        world.live(for: .minutes(1))
    }
}
