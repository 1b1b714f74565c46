import DeviceCore
import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Refreshes at times that were learned, of real programs by the real daemon. The days of learning
/// are virtual; the moment that they lead up to comes.
struct LearnedTimeTests {
    private static let days = 9

    /// What was learned, and of whom.
    private struct Scene {
        /// Apps that were used together, once a day; their refresh is a script of that name.
        var names: [String]
        var settings: String
        /// What a run took on the days of learning.
        var runTime = Interval.seconds(10)
        var keys = ""

        /// The daemon decides at once.
        var configuration: String { "pause-after-boot = 0s\npause-after-start = 0s\n\(settings)\n" }
    }

    /// A zone in which a moment is at noon: what is learned is the same whenever this test runs.
    private struct Noon {
        let moment: WallTime
        let offset: Int32

        init(at moment: WallTime) {
            self.moment = moment
            let second = LocalTime(moment, utcOffset: 0).timeOfDay.nanoseconds / 1_000_000_000
            offset = Int32(43_200 - second)
        }

        /// As `TZ` has it, which counts westward.
        var zone: String {
            let west = abs(offset)
            let sign = offset > 0 ? "-" : ""
            return "<noon>\(sign)\(west / 3600):\(west / 60 % 60):\(west % 60)"
        }

        /// The device's, whose decisions then come at this moment and every five minutes from it.
        var seed: Int64 { moment.nanoseconds % Interval.minutes(5).nanoseconds }
    }

    /// Days on each of which the apps were used, `later` than the moment; not on the last.
    private func days(
        before noon: Noon,
        later: Interval,
        _ scene: Scene,
        _ manifests: [AppManifest],
        in store: Store? = nil
    ) throws -> VirtualDays {
        var start = Start(bootID: "virtual", seed: noon.seed)
        start.settings = try SettingsText.parse(ConfigurationText(scene.configuration))
        start.manifests = manifests.map { .present($0) }
        let first = noon.moment - .days(Int64(Self.days)) - .hours(11)
        var days = VirtualDays(
            from: first,
            utcOffset: noon.offset,
            start,
            runTime: scene.runTime,
            in: store
        )
        for day in (1...Int64(Self.days)).reversed() {
            days.live(until: noon.moment - .days(day) + later)
            days.use(manifests.map(\.id))
        }
        return days
    }

    /// How long before the use all refreshes are begun at this moment, and not sooner.
    private func lead(_ scene: Scene, _ manifests: [AppManifest]) throws -> Interval {
        let noon = Noon(at: Clocks.now().wall)
        for minutes: Int64 in stride(from: 5, through: 60, by: 5) {
            var days = try days(before: noon, later: .minutes(minutes), scene, manifests)
            days.live(until: noon.moment + .seconds(1))
            let last = days.runs.suffix(manifests.count)
            if last.count == manifests.count, last.allSatisfy({ $0 >= noon.moment }) {
                return .minutes(minutes)
            }
        }
        throw DidNotHappen(description: "a refresh at noon")
    }

    private func manifest(_ name: String, _ bench: DaemonBench) throws -> AppManifest {
        let file = bench.daemon.scratch("data/applications/\(name).desktop")
        let parsed = ManifestParser.parse(
            bytes: try Files.read(file, limit: 4096),
            id: AppID(name),
            file: file,
            home: bench.home("")
        )
        guard case .app(let manifest, _) = parsed else {
            throw DidNotHappen(description: "a manifest: \(parsed)")
        }
        return manifest
    }

    /// A real daemon that has learned a scene, before the moment comes and after.
    private func play(
        _ scene: Scene,
        _ script: (_ name: String) -> String,
        before: (DaemonBench) throws -> Void,
        after: (DaemonBench, Noon, _ lead: Interval) throws -> Void
    ) throws {
        var ahead = Interval.seconds(2)
        for _ in 1...5 {
            let bench = try DaemonBench(starting: false)
            try bench.daemon.scratch.write("offstage.conf", scene.configuration)
            for name in scene.names {
                let keys = "UseFrom=exec:\(bench.home("reader-of-\(name)"))\n\(scene.keys)"
                try bench.refresh(name, script(name), keys)
            }
            let manifests = try scene.names.map { try manifest($0, bench) }
            let lead = try lead(scene, manifests)
            let noon = Noon(at: Clocks.now().wall + ahead)
            bench.daemon.environment["TZ"] = noon.zone
            do {
                let store = try Store(path: bench.daemon.scratch("state/offstage.db"))
                var days = try days(before: noon, later: lead, scene, manifests, in: store)
                days.live(until: min(Clocks.now().wall, noon.moment - .milliseconds(1)))
            }
            try bench.daemon.start()
            try before(bench)
            if Clocks.now().wall < noon.moment { return try after(bench, noon, lead) }
            // The machine was too slow for it.
            ahead = ahead + ahead
        }
        throw DidNotHappen(description: "a daemon that runs in time")
    }

    @Test(arguments: [["news"], ["news", "mail"]])
    func `what is used every day at noon is refreshed by the real daemon just before`(
        _ names: [String]
    ) throws {
        let scene = Scene(names: names, settings: "refreshes-per-day = 2")
        var explained = Value.null
        var known: [String: Int] = [:]
        try play(scene) { name in
            "date +%s%N >> \(name).log"
        } before: { bench in
            explained = try bench.explain("news")
            for name in names { known[name] = try bench.runs(name).count }
        } after: { bench, noon, lead in
            // It was foretold: the next decision will be for it.
            let forecast = explained["forecast"] ?? .null
            #expect(forecast["blocker"] == nil, "\(explained)")
            #expect(
                forecast["chance"]?.doubleValue ?? 0 >= forecast["price"]?.doubleValue ?? 1,
                "\(explained)"
            )
            let gates = explained["holds"]?.listValue?.compactMap { $0["gate"]?.stringValue }
            #expect(gates?.contains("better-moment") == true, "\(explained)")
            var decisions: [Value] = []
            for name in names {
                let written = try bench.wait(for: "\(name).log")
                let at = WallTime(nanoseconds: Int64(written.dropLast()) ?? 0)
                #expect(at >= noon.moment && at < noon.moment + lead, "\(written)")
                try bench.wait(until: "the line of what was run now") {
                    try bench.runs(name).count > known[name] ?? 0
                }
                decisions.append(try bench.runs(name).first?["decision"] ?? .null)
            }
            // One wake for all, paid for from one budget.
            #expect(Set(decisions.map { $0["together"] }).count == names.count, "\(decisions)")
            let foretold = forecast["left"]?.integerValue ?? 0
            let left = Set(decisions.map { $0["left"]?.integerValue })
            #expect(left == Set(names.indices.map { foretold - Int64($0) }), "\(decisions)")
            for decision in decisions {
                let price = decision["price"]?.doubleValue ?? 0
                #expect(price > 0, "\(decision)")
                #expect(decision["chance"]?.doubleValue ?? 0 >= price, "\(decision)")
            }
        }
    }

    @Test func `the real daemon gives more to what is done early, and less to what brings nothing`()
        throws
    {
        let scene = Scene(
            names: ["quick", "empty"],
            settings: "refreshes-per-day = 100\nshared-budget = off",
            runTime: .seconds(20),
            keys: "NoDataExit=3\n"
        )
        func budget(_ bench: DaemonBench, _ name: String) throws -> Int64 {
            try bench.explain(name)["forecast"]?["budget"]?.integerValue ?? 0
        }
        var learned: [Int64] = []
        var known: [Value] = []
        try play(scene) { name in
            "echo done >> \(name).log; exit \(name == "quick" ? 0 : 3)"
        } before: { bench in
            learned = try scene.names.map { try budget(bench, $0) }
            known = try scene.names.compactMap { try bench.runs($0).first }
        } after: { bench, _, _ in
            // Judged only now: on a slow machine the moment comes before these are asked.
            #expect(learned[0] == learned[1])
            for name in scene.names {
                try bench.wait(for: "\(name).log")
                try bench.wait(until: "the line of what was run now") {
                    try bench.runs(name).first.map { !known.contains($0) } == true
                }
                let result = try bench.runs(name).first?["result"]
                #expect(result == (name == "quick" ? "new data" : "no data"))
            }
            #expect(try budget(bench, "quick") > learned[0])
            #expect(try budget(bench, "empty") < budget(bench, "quick"))
        }
    }
}
