import Offstage

/// The full images, which come while the app is suspended or not running.
@MainActor
final class ImageSession: NSObject {
    static let identifier = "org.offstage.photofeed.images"
    var whenAllEventsAreDelivered: (() -> Void)?
    private let album: Album
    private var session: URLSession?
    /// What was asked for and has not ended.
    private var asked: Set<String> = []

    init(album: Album) { self.album = album }

    func join() {
        let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: .main)
    }

    /// Those that are not on their way yet; returns how many these are.
    func enqueue(_ photos: [Photo], from server: URL) async -> Int {
        guard let session else { return 0 }
        let tasks = await session.allTasks
        // Another feed may have been read meanwhile.
        let known = asked.union(tasks.compactMap(\.taskDescription))
        var count = 0
        for photo in photos where !known.contains(photo.id) {
            guard let url = photo.address(of: photo.image, on: server) else { continue }
            let task = session.downloadTask(with: url)
            task.taskDescription = photo.id
            asked.insert(photo.id)
            task.resume()
            count += 1
        }
        return count
    }
}

extension ImageSession: URLSessionDownloadDelegate {
    /// The file is gone when this returns, so it is moved here and nowhere later.
    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard let id = downloadTask.taskDescription else { return }
        let status = (downloadTask.response as? HTTPURLResponse)?.statusCode
        MainActor.assumeIsolated {  // The delegate queue is the main queue.
            guard status == 200 else { return say("no image of \(id): it answered \(status ?? 0)") }
            do {
                try album.takeImage(of: id, from: location)
                say("image of \(id)")
            } catch {
                say("the image of \(id) cannot be kept: \(error.localizedDescription)")
            }
        }
    }

    /// The next refresh asks for it again.
    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        guard let id = task.taskDescription else { return }
        MainActor.assumeIsolated {
            asked.remove(id)
            guard let error else { return }
            say("no image of \(id): \(error.localizedDescription)")
        }
    }

    nonisolated func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        MainActor.assumeIsolated {
            say("all images are there")
            whenAllEventsAreDelivered?()
            whenAllEventsAreDelivered = nil
        }
    }
}
