internal import Foundation

/// What an app keeps of a download that it means to go on with. The bytes themselves stay with the
/// daemon, which knows them by the token.
struct ResumeData: Codable {
    /// Of this form.
    private var version = 1
    let token: String
    let url: String

    init(token: String, url: String) { (self.token, self.url) = (token, url) }

    /// Nil: it is something else.
    init?(_ data: Data) {
        guard let read = try? JSONDecoder().decode(ResumeData.self, from: data), read.version == 1
        else { return nil }
        self = read
    }

    var data: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Two texts and a number always encode.
        return (try? encoder.encode(self)) ?? Data()
    }
}
