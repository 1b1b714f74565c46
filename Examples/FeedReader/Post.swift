import Foundation

struct Post: Equatable, Sendable {
    /// What the feed calls it; its link where the feed does not say.
    var id: String
    var title: String
    var link: String
    var published: Date?
    /// It came since the user last looked.
    var isNew = true
}

/// What a server said of the version that it sent, to be asked again only for a newer one.
struct FeedVersion: Equatable, Sendable {
    var tag: String?
    var lastModified: String?
}
