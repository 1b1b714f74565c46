import DeviceCore
import TestKit
import Vocabulary

/// The same with 10,000 apps, and a launch of each.
extension BulkTurn {
    private static let manyApps = (0..<10_000).map { AppID("many\($0)") }

    mutating func appFigures() throws -> [Figure] {
        let manifests = Self.manyApps.map { id in
            var manifest = AppManifest(id: id, name: id.name)
            manifest.exec = ["app"]
            return ManifestChange.present(manifest)
        }
        let found = try turn([.manifests(manifests)])
        let opens = Self.manyApps.map { Event.user(.open($0, attach: nil), reply: reply()) }
        let opened = try turn(opens)
        var launches: [LaunchID] = []
        for case .spawn(let launch, _) in effects { launches.append(launch) }
        guard launches.count == Self.manyApps.count else {
            throw DidNotHappen(description: "\(launches.count) of 10,000 launches")
        }
        let started = try turn(
            launches.enumerated().map { number, launch in
                .process(launch, .started(ProcessID(pid: Int32(1000 + number), startTime: 1)))
            }
        )
        let ended = try turn(launches.map { .process($0, .exited(.status(0), nil)) })
        let gone = try turn([.manifests(Self.manyApps.map { .removed($0) })])
        return [
            Self.figure("found", found), Self.figure("opened", opened),
            Self.figure("started", started), Self.figure("ended", ended),
            Self.figure("removed", gone),
        ]
    }

    private static func figure(_ what: String, _ time: Double) -> Figure {
        Figure(
            name: "10,000 apps, \(what) in one turn, durable",
            unit: "ms",
            ours: time,
            limit: .atMost(1000)
        )
    }
}
