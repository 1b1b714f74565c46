import DeviceCore
import Testing
import Vocabulary

/// Stored records that were damaged, or edited: each is refused, or does no harm.
struct OddRecordTests {
    private static let integers: [Int64] = [.min, .max, 64, 4_294_967_295]
    private static let doubles = [Double.nan, -.infinity, 1e12, 1e300]

    /// All that differ from `value` in one number, or in the length of one list.
    private static func odd(_ value: Value) -> [(place: String, value: Value)] {
        switch value {
        case .null, .bool, .string, .bytes: return []
        case .integer: return integers.map { ("\($0)", .integer($0)) }
        case .double: return doubles.map { ("\($0)", .double($0)) }
        case .list(let list):
            let lengths = [[], Array(list.dropLast()), list + list.prefix(1), list + list + list]
            return lengths.map { ("\($0.count) long", .list($0)) }
                + Set([0, list.count - 1]).filter(list.indices.contains).sorted().flatMap { place in
                    odd(list[place]).map { odd in
                        var list = list
                        list[place] = odd.value
                        return ("\(place) \(odd.place)", .list(list))
                    }
                }
        case .map(let map):
            return map.entries.flatMap { entry in
                odd(entry.value).map { odd in
                    var map = map
                    map[entry.key] = odd.value
                    return ("\(entry.key) \(odd.place)", .map(map))
                }
            }
        }
    }

    /// Lives on with each of them that is read. What is odd at the same place of two records is
    /// tried in one.
    private func expectNoHarm(_ before: Bench, _ manifests: [AppManifest]) {
        var places: Set<String> = []
        var (refused, read) = (0, 0)
        for (key, value) in before.records.sorted(by: { $0.key < $1.key }) {
            for odd in Self.odd(value)
            where places.insert("\(key.section) \(odd.place)").inserted {
                var bench = before
                bench.records[key] = odd.value
                do {
                    try bench.restart(survivors: before.survivors, manifests: manifests)
                } catch {
                    refused += 1
                    continue
                }
                read += 1
                bench.live(manifests)
                let isKnown = manifests.allSatisfy { bench.app($0.id.name) != nil }
                #expect(isKnown, "\(key) \(odd.place)")
            }
        }
        #expect(refused > 0 && read > 0)
    }

    @Test func `what was learned may be odd`() {
        var bench = LearnedRefreshTests.bench(days: 6)
        let manifests = LearnedRefreshTests.apps.map {
            AppManifest.refreshing($0.name, LearnedRefreshTests.habit($0.name))
        }
        var day = LearnedRefreshTests.Day(midnight: bench.now.wall, failing: "", slow: "")
        day.pass(&bench, until: .hours(13))
        expectNoHarm(bench, manifests)
    }

    @Test func `what waits, and what runs, may be odd`() throws {
        let manifests: [AppManifest] = [
            .refreshing("news"), .linked("feed", identifiers: ["feed.*"]),
        ]
        var bench = Bench()
        bench.install(manifests[0])
        bench.started(try #require(bench.spawn(of: "news")))
        bench.install(manifests[1])
        let launch = try bench.openApp("feed", registered: ["feed.*"])
        bench.beginTask(launch)
        bench.submit(launch, "feed.0")
        bench.ask(.leave(AppID("feed")))
        bench.say(launch, .accepted(try #require(bench.offers(launch).first)))
        expectNoHarm(bench, manifests)
    }

    @Test func `a list that is longer than it may be is cut`() throws {
        let noon = LocalTime(day: 20_000, timeOfDay: .hours(12)).wall(utcOffset: 0)
        var (app, device) = (AppUse(), DeviceUse())
        app.opened(on: &device, at: UseTime(noon, utcOffset: 0))
        app.left(at: UseTime(noon, utcOffset: 0))
        (app, device) = (try lengthened(app), try lengthened(device))
        app.opened(on: &device, at: UseTime(noon + .hours(1), utcOffset: 0))
        #expect(try ValueEncoder().encode(app)["opens"]?.listValue?.count == 48)
        #expect(try ValueEncoder().encode(device)["opens"]?.listValue?.count == 32)
    }

    private func lengthened<Use: Codable>(_ use: Use) throws -> Use {
        var fields = try #require(try ValueEncoder().encode(use).mapValue)
        let open = try #require(fields["opens"]?.listValue?.first)
        fields["opens"] = .list([Value](repeating: open, count: 100))
        return try ValueDecoder().decode(Use.self, from: .map(fields))
    }
}

extension Bench {
    /// The processes of all launches, as they live on.
    fileprivate var survivors: [Survivor] {
        launches.map { Survivor(launch: $0.id, process: $0.process, alive: $0.process != nil) }
    }

    fileprivate mutating func beginTask(_ launch: LaunchID) {
        say(launch, .taskBegan(name: "t", hasHandler: false, reply: nextReply()))
    }

    /// Some of this day, and of the next: all apps are used, what runs fails, and is tried again.
    fileprivate mutating func live(_ manifests: [AppManifest]) {
        for pause: Interval in [.minutes(1), .hours(12)] {
            self.sleep(pause)
            for launch in launches where launch.role == .main {
                say(launch.id, .reconnected(running: [], finished: []))
                beginTask(launch.id)
                submit(launch.id, "feed.0")
            }
            send(.condition(.idle, .hand, .value(0)))
            for manifest in manifests {
                send(.used(manifest.id))
                ask(.run(manifest.id, identifier: nil))
            }
            for launch in launches where launch.process == nil { started(launch.id) }
            advance(.minutes(10))
            for launch in launches { exited(launch.id, status: 1) }
            send(.condition(.idle, .hand, .value(1)))
            advance(.minutes(10))
        }
        _ = (device.status(at: now), device.appList(at: now))
        for manifest in manifests { _ = sentence(manifest.id.name) }
    }
}
