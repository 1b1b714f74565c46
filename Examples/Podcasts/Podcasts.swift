// Podcasts: the newest episodes of a show, there before they are listened to.
//
// A refresh has half a minute: enough to read the list of the show, not to fetch an hour of sound.
// So it enqueues the episodes in a background session, which waits for a network that is not
// metered, goes on while the app is suspended or gone, and wakes it once when all have come. What
// was interrupted, also by its user, goes on where it was. It has no window: what it shows it
// prints, and `offstage logs podcasts` reads it.
//
// SHOW (default http://127.0.0.1:8080/show.json): a JSON Feed with audio attachments.

import Offstage

@main
final class Podcasts: UIResponder, UIApplicationDelegate {
    /// As in podcasts.desktop, under PermittedTaskIdentifiers.
    static let refreshIdentifier = "org.offstage.podcasts.refresh"

    private let shelf = Shelf()
    private lazy var episodes = EpisodeSession(shelf: shelf)

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: Self.refreshIdentifier,
            using: nil
        ) { task in
            self.refresh(task)
        }
        // Making the session is joining it: episodes that came meanwhile are told now.
        episodes.join()
        return true
    }

    // MARK: The user

    func applicationDidBecomeActive(_ application: UIApplication) {
        show()
        Task { say(await look()) }
    }

    func applicationDidEnterBackground(_ application: UIApplication) { askForRefresh() }

    private func show() {
        say("\(shelf.episodes.count) episodes")
        for episode in shelf.episodes {
            say("  \(episode.title), \(shelf.has(episode) ? "here" : "to come")")
        }
    }

    // MARK: The refresh

    private func refresh(_ task: BGTask) {
        // One request is one launch: the next one is asked for first.
        askForRefresh()
        let work = Task {
            let found = await look()
            say("in the background: \(found)")
            task.setTaskCompleted(success: !found.hasPrefix("failed"))
        }
        task.expirationHandler = { work.cancel() }
    }

    /// What a look at the show has brought, in words.
    private func look() async -> String {
        let address = ProcessInfo.processInfo.environment["SHOW"]
        guard let url = URL(string: address ?? "http://127.0.0.1:8080/show.json") else {
            return "failed: SHOW is not a URL"
        }
        do {
            try shelf.take(try await Show.fetch(from: url), from: url)
            return "\(try await episodes.fetchMissing()) episodes are to come"
        } catch {
            return "failed: \(error.localizedDescription)"
        }
    }

    private func askForRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: Self.refreshIdentifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 60)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            say("no refresh: \(error.localizedDescription)")
        }
    }

    // MARK: The launch for the episodes

    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        episodes.whenAllEventsAreDelivered = completionHandler
    }
}

/// One line, written at once: a frozen or ended app loses nothing that it has said.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
