// Podcasts: the newest episodes of a show, there before they are listened to.
//
// A refresh has half a minute: enough to read the list of the show, not to fetch an hour of sound.
// So it enqueues the episodes in a background session. The session waits for a network that is not
// metered. It goes on while the app is suspended or not running, and wakes it once when all have
// come. An interrupted download is resumed, also one that its user has interrupted. The app has no
// window: what it shows it prints, and `offstage logs podcasts` reads it.
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
        Task {
            do {
                say(try await look())
            } catch {
                say("failed: \(error.localizedDescription)")
            }
        }
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
            do {
                say("in the background: \(try await look())")
                task.setTaskCompleted(success: true)
            } catch {
                say("in the background: failed: \(error.localizedDescription)")
                task.setTaskCompleted(success: false)
            }
        }
        task.expirationHandler = { work.cancel() }
    }

    /// What a look at the show has brought, in words.
    private func look() async throws -> String {
        let address = ProcessInfo.processInfo.environment["SHOW"]
        guard let url = URL(string: address ?? "http://127.0.0.1:8080/show.json") else {
            throw ShowError(reason: "SHOW is not a URL")
        }
        try shelf.take(try await Show.fetch(from: url), from: url)
        return "\(try await episodes.fetchMissing()) episodes are to come"
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
