import Foundation
import FoundationNetworking

/// A feed as its server sent it.
struct FeedPage: Sendable {
    /// Nil: nothing has changed.
    var content: Data?
    var version: FeedVersion

    /// More than this is no feed.
    private static let largest = 8 << 20

    init(_ address: String, since known: FeedVersion?) async throws {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme) else {
            throw FeedError(reason: "this is no address of a feed")
        }
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.timeoutInterval = 20
        if let tag = known?.tag { request.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        if let date = known?.lastModified {
            request.setValue(date, forHTTPHeaderField: "If-Modified-Since")
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let response = response as? HTTPURLResponse else {
            throw FeedError(reason: "this is no web server")
        }
        switch response.statusCode {
        case 304:
            content = nil
            version = known ?? FeedVersion()
        case 200 where data.count <= Self.largest:
            content = data
            version = FeedVersion(
                tag: response.value(forHTTPHeaderField: "ETag"),
                lastModified: response.value(forHTTPHeaderField: "Last-Modified")
            )
        case 200: throw FeedError(reason: "it sent \(data.count) bytes, too many for a feed")
        default: throw FeedError(reason: "it answered \(response.statusCode)")
        }
    }
}

struct FeedError: LocalizedError {
    let reason: String
    var errorDescription: String? { reason }
}
