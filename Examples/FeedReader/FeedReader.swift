// FeedReader: news that are there before they are looked for.
//
// Opened, it shows its posts, the ones that came since the last time marked as new, and fetches
// what is newer. Left, it asks to be refreshed, and to clean its database when a week has passed.
// It has no window: what it shows it prints, and `offstage logs feedreader` reads it.

import Offstage

@main
final class FeedReader: UIResponder, UIApplicationDelegate {
    /// As in FeedReader.desktop, under PermittedTaskIdentifiers.
    static let refreshIdentifier = "org.offstage.feedreader.refresh"
    static let cleaningIdentifier = "org.offstage.feedreader.cleaning"

    private let reader = Reader()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        say(application.applicationState == .background ? "launched to work" : "launched")
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: Self.refreshIdentifier,
            using: nil
        ) { task in
            self.refresh(task)
        }
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: Self.cleaningIdentifier,
            using: nil
        ) { task in
            self.clean(task)
        }
        return true
    }

    // MARK: The user

    func applicationDidBecomeActive(_ application: UIApplication) {
        Task {
            await show()
            let found = await reader.refresh()
            say("\(found)")
            if found.new > 0 { await show() }
        }
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        askForRefresh()
        // Looking whether it is due takes a moment, which this buys.
        let time = application.beginBackgroundTask(withName: "ask for cleaning")
        Task {
            if await reader.isCleaningDue { askForCleaning() }
            application.endBackgroundTask(time)
        }
    }

    private func show() async {
        do {
            let posts = try await reader.readAll()
            say("\(posts.count) posts, \(posts.count(where: \.isNew)) new")
            for post in posts { say((post.isNew ? "● " : "  ") + post.title) }
        } catch {
            say("the posts cannot be read: \(error)")
        }
    }

    // MARK: Asking for time

    private func askForRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: Self.refreshIdentifier)
        let seconds = ProcessInfo.processInfo.environment["FEEDREADER_INTERVAL"]
        request.earliestBeginDate = Date(
            timeIntervalSinceNow: seconds.flatMap(TimeInterval.init) ?? 15 * 60
        )
        submit(request)
    }

    private func askForCleaning() {
        let request = BGProcessingTaskRequest(identifier: Self.cleaningIdentifier)
        request.requiresExternalPower = true
        submit(request)
    }

    private func submit(_ request: BGTaskRequest) {
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            let reason = (error as NSError).localizedFailureReason ?? error.localizedDescription
            say("\(request.identifier) was not taken: \(reason)")
        }
    }

    // MARK: Using it

    private func refresh(_ task: BGTask) {
        // One request is one launch: the next one is asked for first.
        askForRefresh()
        let work = Task {
            let found = await reader.refresh()
            say("in the background: \(found)")
            task.setTaskCompleted(success: found.failed.isEmpty)
        }
        task.expirationHandler = { work.cancel() }
    }

    private func clean(_ task: BGTask) {
        let work = Task {
            do {
                let count = try await reader.clean()
                say("cleaned, \(count) posts went")
                task.setTaskCompleted(success: true)
            } catch {
                say("not cleaned: \(error)")
                task.setTaskCompleted(success: false)
            }
        }
        task.expirationHandler = { work.cancel() }
    }
}

/// One line, written at once: a frozen or ended app loses nothing that it has said.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
