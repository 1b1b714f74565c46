import DeviceCore
import TestKit
import Vocabulary

/// The same with 10,000 apps: a launch of each, and a refresh; and with as many commands.
extension BulkTurn {
    private static let manyApps = (0..<10_000).map { AppID("many\($0)") }

    mutating func appFigures() throws -> [Figure] {
        let manifests = Self.manyApps.map { id in
            var manifest = AppManifest(id: id, name: id.name)
            manifest.exec = ["app"]
            manifest.modes = [.fetch]
            manifest.permittedTaskIdentifiers = ["refresh"]
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
        let submitted = try turn(
            Self.manyApps.map { id in
                let refresh = Submission(app: id, identifier: "refresh", kind: .refresh)
                return .user(.submit(refresh), reply: reply())
            }
        )
        let online = try turn([.condition(.network, .kernel, .value(2))])
        let cancelled = try turn(
            Self.manyApps.map { .user(.cancel($0, identifier: nil), reply: reply()) }
        )
        let gone = try turn([.manifests(Self.manyApps.map { .removed($0) })])
        return [
            Self.figure("apps, found", found), Self.figure("apps, opened", opened),
            Self.figure("apps, started", started), Self.figure("apps, ended", ended),
            Self.figure("refreshes of as many apps, submitted", submitted),
            Self.figure("refreshes of as many apps, looked at as the network comes", online),
            Self.figure("refreshes of as many apps, cancelled", cancelled),
            Self.figure("apps, removed", gone),
        ] + (try commandFigures())
    }

    /// Each becomes an app of its own.
    private mutating func commandFigures() throws -> [Figure] {
        let submitted = try turn(
            (0..<Self.manyApps.count).map { number in
                let command = Submission(
                    kind: .processing,
                    after: .days(2),
                    command: ["/usr/bin/command\(number)"]
                )
                return .user(.submit(command), reply: reply())
            }
        )
        var apps: [AppID] = []
        for case .reply(_, .requested(let task)) in effects { apps.append(task.app) }
        guard apps.count == Self.manyApps.count else {
            throw DidNotHappen(description: "\(apps.count) of 10,000 commands")
        }
        let cancelled = try turn(apps.map { .user(.cancel($0, identifier: nil), reply: reply()) })
        return [
            Self.figure("commands, submitted", submitted),
            Self.figure("commands, cancelled", cancelled),
        ]
    }

    private static func figure(_ what: String, _ time: Double) -> Figure {
        Figure(
            name: "10,000 \(what) in one turn, durable",
            unit: "ms",
            ours: time,
            limit: .atMost(1000)
        )
    }
}
