import Foundation
import FoundationNetworking

/// A show as its server lists it: a JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/) whose
/// items have attachments. The newest item is the first.
struct Show: Decodable, Sendable {
    let items: [Item]

    struct Item: Decodable, Sendable {
        let id: String
        let title: String?
        let attachments: [Attachment]?
    }

    struct Attachment: Decodable, Sendable {
        let url, mimeType: String
        let sizeInBytes: Int64?

        enum CodingKeys: String, CodingKey {
            case url
            case mimeType = "mime_type"
            case sizeInBytes = "size_in_bytes"
        }
    }

    /// A list is not larger than this.
    private static let largest = 4 << 20

    static func fetch(from url: URL) async throws -> Show {
        var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
        request.timeoutInterval = 10
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200, data.count <= largest else {
            throw ShowError(reason: "the show answered \(status), with \(data.count) bytes")
        }
        return try JSONDecoder().decode(Show.self, from: data)
    }
}

struct ShowError: LocalizedError {
    let reason: String
    var errorDescription: String? { reason }
}
