import Foundation
import FoundationNetworking

/// What a refresh fetches itself, in the time that it has.
@MainActor
final class Feed {
    let album = Album()
    let server: URL

    init() {
        let address = ProcessInfo.processInfo.environment["SERVER"] ?? "http://127.0.0.1:8080"
        server = URL(string: address) ?? URL(fileURLWithPath: "/")
    }

    /// The list, and the thumbnails that are not there yet; returns how many have come.
    func fetchThumbnails() async throws -> Int {
        let data = try await Self.fetch(server.appendingPathComponent("photos.json"))
        let listed = try JSONDecoder().decode([Photo].self, from: data).filter(\.isUsable)
        try album.take(listed)
        var count = 0
        for photo in listed where !album.hasThumbnail(of: photo) {
            guard let url = photo.address(of: photo.thumbnail, on: server) else { continue }
            try album.takeThumbnail(of: photo, try await Self.fetch(url))
            count += 1
        }
        return count
    }

    /// A list or a thumbnail is not larger than this.
    private nonisolated static let largest = 1 << 20

    private nonisolated static func fetch(_ url: URL) async throws -> Data {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.timeoutInterval = 10
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else { throw FeedError(reason: "\(url.path) answered \(status)") }
        guard data.count <= largest else {
            throw FeedError(reason: "\(url.path) has \(data.count) bytes, too many")
        }
        return data
    }
}

struct FeedError: LocalizedError {
    let reason: String
    var errorDescription: String? { reason }
}
