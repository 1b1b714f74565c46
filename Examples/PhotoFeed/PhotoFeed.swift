// PhotoFeed: photos that are there before they are looked for.
//
// A refresh has half a minute. In that time it fetches the list and the small thumbnails, which are
// there before it says that it is done. The full images may take longer: they are enqueued in a
// background session, which goes on while the app is suspended, and wakes it once when all of them
// have come. It has no window: what it shows it prints, and `offstage logs photofeed` reads it.
//
// SERVER (default http://127.0.0.1:8080): serves /photos.json, and what that names.

import Offstage

@main
final class PhotoFeed: UIResponder, UIApplicationDelegate {
    /// As in photofeed.desktop, under PermittedTaskIdentifiers.
    static let refreshIdentifier = "org.offstage.photofeed.refresh"

    private let feed = Feed()
    private lazy var images = ImageSession(album: feed.album)

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
        // Making the session is joining it: images that came meanwhile are told now.
        images.join()
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
            show()
        }
    }

    func applicationDidEnterBackground(_ application: UIApplication) { askForRefresh() }

    private func show() {
        let photos = feed.album.photos
        say("\(photos.count) photos")
        for photo in photos { say("  \(photo.title), \(feed.album.quality(of: photo))") }
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

    /// What a look at the feed has brought, in words.
    private func look() async throws -> String {
        let new = try await feed.fetchThumbnails()
        let missing = feed.album.photos.filter { !feed.album.hasImage(of: $0) }
        let count = await images.enqueue(missing, from: feed.server)
        return "\(new) thumbnails came, \(count) images are to come"
    }

    private func askForRefresh() {
        let request = BGAppRefreshTaskRequest(identifier: Self.refreshIdentifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            say("no refresh: \(error.localizedDescription)")
        }
    }

    // MARK: The launch for the images

    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        images.whenAllEventsAreDelivered = completionHandler
    }
}

/// One line, written at once: a frozen or ended app loses nothing that it has said.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
