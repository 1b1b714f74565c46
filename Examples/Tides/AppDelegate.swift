import Offstage

@main
class AppDelegate: UIResponder, UIApplicationDelegate {
    let identifier = "com.example.tides.refresh"
    let tides = TideTable()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
            self.handleRefresh(task as! BGAppRefreshTask)
        }
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        print(tides.next ?? "no table yet")
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        scheduleRefresh()
    }

    func scheduleRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 60)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("no refresh: \(error.localizedDescription)")
        }
    }

    func handleRefresh(_ task: BGAppRefreshTask) {
        scheduleRefresh()
        let work = Task {
            do {
                try tides.save(try await TideTable.download())
                task.setTaskCompleted(success: true)
            } catch {
                task.setTaskCompleted(success: false)
            }
        }
        task.expirationHandler = { work.cancel() }
    }
}

@MainActor
class TideTable {
    let file = FileManager.default
        .urls(for: .applicationSupportDirectory, in: .userDomainMask)[0]
        .appendingPathComponent("tides.txt")

    var next: String? {
        let lines = try? String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return lines?.first.map(String.init)
    }

    func save(_ data: Data) throws { try data.write(to: file) }
}
