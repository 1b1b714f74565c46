import DeviceCore
import DeviceShell
import TestKit
import Vocabulary

/// One turn with 10,000 changes, made durable by the daemon's own store.
struct BulkTurn {
    private static let apps = 1000
    private static let requests = 10

    private let scratch = ScratchDirectory()
    private(set) var driver: Driver<StorePort>
    /// Of the last turn.
    private(set) var effects: [Effect] = []
    private var clock = Moment(
        boot: BootTime(nanoseconds: 3_600_000_000_000),
        awake: AwakeTime(nanoseconds: 3_600_000_000_000),
        wall: WallTime(nanoseconds: 1_767_261_600_000_000_000),
        utcOffset: 0
    )
    private var replies: UInt64 = 0

    init() throws {
        driver = Driver(
            device: Device(),
            port: StorePort(try Store(path: scratch("offstage.db")))
        )
        let manifests = Self.ids.map { id in
            var manifest = AppManifest(id: id, name: id.name)
            manifest.exec = ["app"]
            manifest.modes = [.fetch, .processing]
            manifest.permittedTaskIdentifiers = ["\(id.name).*"]
            return ManifestChange.present(manifest)
        }
        _ = try turn([.started(Start(bootID: "bench", seed: 7)), .manifests(manifests)])
    }

    private static let ids = (0..<apps).map { AppID("app\($0)") }

    /// Milliseconds until all is committed and handed out.
    @discardableResult
    mutating func turn(_ events: [Event]) throws -> Double {
        clock.boot = clock.boot + .seconds(1)
        clock.awake = clock.awake + .seconds(1)
        clock.wall = clock.wall + .seconds(1)
        let turned = events.map { TimedEvent($0, at: clock) }
        // What the turn before has left does not count.
        effects = []
        let time = timed { effects = driver.turn(turned) } / 1e6
        for case .reply(_, .refused(let refusal)) in effects {
            throw DidNotHappen(description: refusal.text)
        }
        return time
    }

    mutating func reply() -> ReplyToken {
        replies += 1
        return ReplyToken(replies)
    }

    mutating func figures() throws -> [Figure] {
        try requestFigures() + singleFigures() + transferFigures() + appFigures()
    }

    private mutating func requestFigures() throws -> [Figure] {
        var events: [Event] = []
        for id in Self.ids {
            for number in 0..<Self.requests {
                let submission = Submission(
                    app: id,
                    identifier: "\(id.name).t\(number)",
                    kind: .processing,
                    after: .days(2)
                )
                events.append(.user(.submit(submission), reply: reply()))
            }
        }
        let submitted = try turn(events)
        events = Self.ids.map { .user(.cancel($0, identifier: nil), reply: reply()) }
        let cancelled = try turn(events)
        return [
            Figure(
                name: "10,000 requests of 1,000 apps, submitted in one turn, durable",
                unit: "ms",
                ours: submitted,
                limit: .atMost(1000)
            ),
            Figure(
                name: "10,000 requests of 1,000 apps, cancelled in one turn, durable",
                unit: "ms",
                ours: cancelled,
                limit: .atMost(1000)
            ),
        ]
    }
}
