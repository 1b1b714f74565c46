// WeatherStation: one look at a weather station an hour, at most.
//
// It uses the older of the two ways to be kept fresh, which is all that it needs: a quiet period
// between looks, and one call with one completion handler for each.
//
// WEATHER_STATION is the address of an observation, JSON as {"time": "…", "celsius": 11.5}.

import Offstage

@main
final class WeatherStation: UIResponder, UIApplicationDelegate {
    private let record = Record()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        application.setMinimumBackgroundFetchInterval(3600)
        return true
    }

    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler:
            @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        Task {
            do {
                let observation = try await Observation.current()
                let isNew = try record.add(observation)
                say(isNew ? "\(observation)" : "nothing new")
                completionHandler(isNew ? .newData : .noData)
            } catch {
                say("no answer from the station: \(error.localizedDescription)")
                completionHandler(.failed)
            }
        }
    }
}

/// What was observed, a line each: time and degrees.
@MainActor
final class Record {
    private let file: URL

    init() {
        let folder = FileManager.default.urls(
            for: .applicationSupportDirectory,
            in: .userDomainMask
        )[0].appendingPathComponent("weatherstation", isDirectory: true)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("record")
    }

    /// False: it is the one that was written last.
    func add(_ observation: Observation) throws -> Bool {
        let written = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        guard written.split(separator: "\n").last.map(String.init) != observation.description
        else { return false }
        try (written + observation.description + "\n")
            .write(to: file, atomically: true, encoding: .utf8)
        return true
    }
}

/// One line, written at once: a frozen or ended app loses nothing that it has said.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
