import Foundation
import FoundationXML

/// Reads RSS 0.9 to 2.0 and Atom.
final class FeedParser: NSObject, XMLParserDelegate {
    private var posts: [Post] = []
    /// The post being read.
    private var post: Post?
    private var text = ""
    private var isFeed = false

    static func posts(in data: Data) throws -> [Post] {
        let reader = FeedParser()
        let parser = XMLParser(data: data)
        parser.delegate = reader
        guard parser.parse(), parser.parserError == nil else {
            let reason = parser.parserError?.localizedDescription ?? "no reason given"
            throw FeedError(reason: "line \(parser.lineNumber) is not well-formed (\(reason))")
        }
        guard reader.isFeed else { throw FeedError(reason: "this is neither RSS nor Atom") }
        return reader.posts
    }

    func parser(
        _ parser: XMLParser,
        didStartElement element: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        text = ""
        switch element {
        case "rss", "feed", "rdf:RDF": isFeed = true
        case "item", "entry": post = Post(id: "", title: "", link: "")
        case "link":
            // Atom's is an attribute, and there may be several.
            let relation = attributes["rel"] ?? "alternate"
            if let target = attributes["href"], relation == "alternate" { post?.link = target }
        default: break
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        text += String(decoding: block, as: UTF8.self)
    }

    func parser(
        _ parser: XMLParser,
        didEndElement element: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        guard var post else { return }
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        text = ""
        switch element {
        case "title" where post.title.isEmpty: post.title = words
        case "guid", "id": post.id = words
        case "link" where !words.isEmpty: post.link = words
        case "pubDate", "published", "dc:date": post.published = Self.date(words)
        case "updated" where post.published == nil: post.published = Self.date(words)
        case "item", "entry":
            if post.id.isEmpty { post.id = post.link.isEmpty ? post.title : post.link }
            if post.title.isEmpty { post.title = post.link }
            if !post.id.isEmpty { posts.append(post) }
            self.post = nil
            return
        default: return
        }
        self.post = post
    }

    /// RFC 3339, as in Atom, or RFC 822, as in RSS.
    static func date(_ text: String) -> Date? {
        if let date = try? Date(text, strategy: .iso8601) { return date }
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        for pattern in ["EEE, dd MMM yyyy HH:mm:ss zzz", "dd MMM yyyy HH:mm:ss zzz"] {
            format.dateFormat = pattern
            if let date = format.date(from: text) { return date }
        }
        return nil
    }
}
