import Offstage

/// The downloads of episodes, which go on while the app is suspended or not running.
@MainActor
final class EpisodeSession: NSObject {
    static let identifier = "org.offstage.podcasts.episodes"
    var whenAllEventsAreDelivered: (() -> Void)?
    private let shelf: Shelf
    private var session: URLSession?
    /// By number, what was asked for and has not ended: two looks at the show may meet here.
    private var asked: Set<String> = []
    /// The quarter that was told last, by the number of the episode.
    private var quarters: [Int: Int64] = [:]

    init(shelf: Shelf) { self.shelf = shelf }

    func join() {
        let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
        // An episode is large.
        configuration.allowsExpensiveNetworkAccess = false
        session = URLSession(configuration: configuration, delegate: self, delegateQueue: .main)
    }

    /// What the shelf lacks and is not on its way; returns how many these are. Downloads of what
    /// has left the shelf end.
    func fetchMissing() async throws -> Int {
        guard let session else { return 0 }
        let tasks = await session.allTasks
        let wanted = Set(shelf.episodes.map { "\($0.number)" })
        for task in tasks where !wanted.contains(task.taskDescription ?? "") { task.cancel() }
        let known = asked.union(tasks.compactMap(\.taskDescription))
        var count = 0
        for episode in shelf.episodes
        where !shelf.has(episode) && !known.contains("\(episode.number)") {
            try fetch(episode, in: session)
            count += 1
        }
        return count
    }

    private func fetch(_ episode: Episode, in session: URLSession) throws {
        let task =
            if let data = try shelf.takeResumeData(for: episode.number) {
                session.downloadTask(withResumeData: data)
            } else {
                session.downloadTask(with: episode.url)
            }
        task.taskDescription = "\(episode.number)"
        asked.insert("\(episode.number)")
        if let bytes = episode.bytes { task.countOfBytesClientExpectsToReceive = bytes }
        task.resume()
    }

    /// What a task fetches; nil: it has left the shelf.
    private func episode(of task: URLSessionTask) -> Episode? {
        shelf.episodes.first { "\($0.number)" == task.taskDescription }
    }
}

// The delegate queue is the main queue.
extension EpisodeSession: URLSessionDownloadDelegate {
    /// The file is gone when this returns, so it is moved here and nowhere later.
    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        MainActor.assumeIsolated {
            guard let episode = episode(of: downloadTask) else { return }
            let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
            guard status == 200 else {
                return say("no \(episode.title): the server answered \(status)")
            }
            do {
                try shelf.take(location, as: episode.number)
                say("\(episode.title) is here")
            } catch {
                say("\(episode.title) cannot be kept: \(error.localizedDescription)")
            }
        }
    }

    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        guard totalBytesExpectedToWrite > 0 else { return }
        let quarter = totalBytesWritten * 4 / totalBytesExpectedToWrite
        MainActor.assumeIsolated {
            guard let episode = episode(of: downloadTask) else { return }
            guard quarters.updateValue(quarter, forKey: episode.number) != quarter else { return }
            say("\(episode.title): \(quarter * 25) %")
        }
    }

    nonisolated func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        MainActor.assumeIsolated {
            guard let episode = episode(of: downloadTask) else { return }
            say("\(episode.title) goes on after \(fileOffset) bytes")
        }
    }

    /// What has come is kept. The next look at the show goes on with it.
    nonisolated func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        MainActor.assumeIsolated {
            asked.remove(task.taskDescription ?? "")
            guard let error, let episode = episode(of: task) else { return }
            say("no \(episode.title): \(error.localizedDescription)")
            guard let data = (error as? URLError)?.downloadTaskResumeData else { return }
            do {
                try shelf.keep(data, for: episode.number)
            } catch {
                say("\(episode.title) will begin anew: \(error.localizedDescription)")
            }
        }
    }

    nonisolated func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        MainActor.assumeIsolated {
            say("all that was asked for has ended")
            whenAllEventsAreDelivered?()
            whenAllEventsAreDelivered = nil
        }
    }
}
