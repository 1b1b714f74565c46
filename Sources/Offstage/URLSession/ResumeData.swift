internal import Foundation
internal import Vocabulary

/// What an app keeps of a task that it means to go on with. The bytes themselves, and what a server
/// has of an upload, stay with the daemon, which knows them by the token.
struct ResumeData: Codable {
    /// Of this form.
    private var version: Int64 = 1
    let token: String
    let url: String
    /// Of an upload; nil: of a download.
    let method: String?

    init(token: String, url: String, method: String?) {
        (self.token, self.url, self.method) = (token, url, method)
    }

    /// Nil: it is something else.
    init?(_ data: Data) {
        guard let value = try? ValueJSON.parse(Array(data)),
            let read = try? ValueDecoder().decode(ResumeData.self, from: value), read.version == 1
        else { return nil }
        self = read
    }

    var data: Data {
        // Some texts and a number always encode.
        Data(((try? ValueEncoder().encode(self).json()) ?? "").utf8)
    }
}
