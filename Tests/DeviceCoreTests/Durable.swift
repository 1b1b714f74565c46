@testable import DeviceCore
import Vocabulary

/// The part of a device that must survive, as an equatable value: all but what is derived from
/// manifests, sensors and the machine, and found again when the daemon starts.
struct Durable: Equatable {
    struct App: Equatable {
        var record: AppRecord
        var requests: [Request]
        var launches: [Launch]
    }

    var apps: [App] = []
    var pause: Device.Pause
    var pausedAt: WallTime?
    var ledger: Ledger
    var bootID: String
    var seed: Int64

    init(_ device: Device) {
        for index in 0..<device.apps.endIndex {
            guard let app = device.apps.at(index) else { continue }
            apps.append(
                App(
                    record: Self.durable(app.record),
                    requests: app.requests.map(Self.durable).sorted { $0.id < $1.id },
                    launches: app.launches.map(Self.durable).sorted { $0.id < $1.id }
                )
            )
        }
        apps.sort { $0.record.id < $1.record.id }
        pause = device.pause
        pausedAt = device.pausedAt
        ledger = device.ledger
        bootID = device.bootID
        seed = device.seed
    }

    /// What differs, for a message.
    func difference(from other: Durable) -> String {
        for (mine, theirs) in zip(apps, other.apps) where mine != theirs {
            if mine.record != theirs.record { return "\(mine.record)\n\(theirs.record)" }
            if mine.requests != theirs.requests { return "\(mine.requests)\n\(theirs.requests)" }
            return "\(mine.launches)\n\(theirs.launches)"
        }
        return apps.count == other.apps.count ? "the device itself" : "the number of apps"
    }

    /// What was measured of the current day is stored with the record when something else of it
    /// changes, and kept apart from it in memory.
    private static func durable(_ record: AppRecord) -> AppRecord {
        var record = record
        record.refresh.gains.finish(counts: false)
        return record
    }

    private static func durable(_ request: Request) -> Request {
        var request = request
        request.readySince = nil
        return request
    }

    private static func durable(_ launch: Launch) -> Launch {
        var launch = launch
        launch.isConnected = false
        launch.monitor = nil
        launch.usage = nil
        launch.bookedUntil = nil
        launch.wake?.cpuAtStart = nil
        // A sample is not worth a commit.
        launch.wake?.memorySeen = nil
        launch.lockCheckAt = nil
        launch.graceEnd = nil
        return launch
    }
}
