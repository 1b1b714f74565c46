import Foundation

/// The feeds that the user follows, and what was in them.
actor Reader {
    private let container: URL
    private var opened: FeedStore?

    init() {
        container = FileManager.default.urls(
            for: .applicationSupportDirectory,
            in: .userDomainMask
        )[0].appendingPathComponent("feedreader", isDirectory: true)
    }

    /// What a look at all feeds has brought.
    struct Found: CustomStringConvertible, Sendable {
        var new = 0
        /// Feeds that could not be read, with the reason.
        var failed: [String] = []

        var description: String {
            (["\(new) new posts"] + failed).joined(separator: "; ")
        }
    }

    /// Asks all feeds, a few at a time, and keeps what is new. Ended early by a cancellation of
    /// the task, it keeps what it has.
    func refresh() async -> Found {
        var found = Found()
        do {
            let store = try store()
            var waiting = try feeds().makeIterator()
            try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<4 {
                    if let feed = waiting.next() { try ask(feed, store, in: &group) }
                }
                while let answer = try await group.next() {
                    do {
                        found.new += try take(answer, into: store)
                    } catch {
                        found.failed.append("\(answer.feed): \(words(error))")
                    }
                    if let feed = waiting.next() { try ask(feed, store, in: &group) }
                }
            }
        } catch {
            found.failed.append(words(error))
        }
        return found
    }

    private struct Answer: Sendable {
        let feed: String
        let page: Result<FeedPage, any Error>
    }

    private func ask(
        _ feed: String,
        _ store: FeedStore,
        in group: inout ThrowingTaskGroup<Answer, any Error>
    ) throws {
        let known = try store.version(of: feed)
        group.addTask {
            do {
                return Answer(feed: feed, page: .success(try await FeedPage(feed, since: known)))
            } catch {
                return Answer(feed: feed, page: .failure(error))
            }
        }
    }

    private func take(_ answer: Answer, into store: FeedStore) throws -> Int {
        let page = try answer.page.get()
        guard let content = page.content else { return 0 }
        return try store.add(try FeedParser.posts(in: content), of: answer.feed, page.version)
    }

    private func words(_ error: any Error) -> String {
        Task.isCancelled ? "the time was over" : error.localizedDescription
    }

    /// All posts, newest first; after that none is new any more.
    func readAll() throws -> [Post] { try store().readAll() }

    private static let week: TimeInterval = 7 * 24 * 60 * 60

    var isCleaningDue: Bool {
        guard let last = try? store().lastCleaning() else { return true }
        return Date().timeIntervalSince(last) >= Self.week
    }

    /// Forgets read posts that are older than a month; how many.
    func clean() throws -> Int { try store().clean(olderThan: Date() - 30 * 24 * 60 * 60) }

    private func store() throws -> FeedStore {
        if let opened { return opened }
        try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
        let store = try FeedStore(container.appendingPathComponent("posts.db").path)
        opened = store
        return store
    }

    /// One address a line; what begins with # is a comment.
    private func feeds() throws -> [String] {
        let file = container.appendingPathComponent("feeds")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw NoFeeds(path: file.path)
        }
        return text.split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}

struct NoFeeds: LocalizedError {
    let path: String
    var errorDescription: String? { "there are no feeds: write their addresses into \(path)" }
}
