import Offstage

@main
class AppDelegate: UIResponder, UIApplicationDelegate {
    static let refresh = "com.example.tides.refresh"
    static let cleaning = "com.example.tides.cleaning"
    let tides = TideTable()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.refresh, using: nil) { task in
            self.handleRefresh(task)
        }
        BGTaskScheduler.shared.register(forTaskWithIdentifier: Self.cleaning, using: nil) { task in
            self.tides.removeOld()
            print("cleaned")
            task.setTaskCompleted(success: true)
        }
        #if !os(Linux)
        application.registerForRemoteNotifications()
        #endif
        return true
    }

    // MARK: Asking for time

    func schedule() {
        let refresh = BGAppRefreshTaskRequest(identifier: Self.refresh)
        refresh.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 60)
        submit(refresh)
        let cleaning = BGProcessingTaskRequest(identifier: Self.cleaning)
        cleaning.requiresExternalPower = true
        submit(cleaning)
    }

    private func submit(_ request: BGTaskRequest) {
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("\(request.identifier) is refused: \(error.localizedDescription)")
        }
    }

    // MARK: Using it

    func handleRefresh(_ task: BGTask) {
        schedule()
        let work = Task {
            task.setTaskCompleted(success: await tides.update())
        }
        task.expirationHandler = { work.cancel() }
    }

    #if !os(Linux)
    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        Task { completionHandler(await tides.update() ? .newData : .failed) }
    }
    #endif
}
