public import Foundation
internal import Vocabulary

/// What a server answered, without the body.
public class URLResponse: NSObject, @unchecked Sendable {  // Never changes.
    /// After all redirects.
    public let url: URL?
    /// Of `Content-Type`, without parameters.
    public let mimeType: String?
    /// Bytes; -1 when the server did not say.
    public let expectedContentLength: Int64
    /// As `Content-Disposition` says, else the last part of the URL.
    public let suggestedFilename: String?
    /// The character set of `Content-Type`.
    public let textEncodingName: String?

    init(url: URL, fields: [String: String]) {
        let type = fields.value(of: "Content-Type")
        let parts = (type ?? "").split(separator: ";").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        self.url = url
        mimeType = parts.first
        textEncodingName = parts.dropFirst().first { $0.lowercased().hasPrefix("charset=") }
            .map { $0.dropFirst("charset=".count).trimmingCharacters(in: .quotationMarks) }
        expectedContentLength = fields.value(of: "Content-Length").flatMap(Int64.init) ?? -1
        let name = url.lastPathComponent
        suggestedFilename =
            Self.fileName(fields.value(of: "Content-Disposition"))
            ?? (name.isEmpty || name == "/" ? "Unknown" : name)
        super.init()
    }

    /// Only its last part: a server chooses no directory.
    private static func fileName(_ disposition: String?) -> String? {
        let parts = (disposition ?? "").split(separator: ";").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard let part = parts.first(where: { $0.lowercased().hasPrefix("filename=") }) else {
            return nil
        }
        let quoted = part.dropFirst("filename=".count).trimmingCharacters(in: .quotationMarks)
        let name = quoted.split(separator: "/").last.map(String.init)
        return name.flatMap { $0.hasPrefix(".") ? nil : $0 }
    }
}

/// The same of HTTP.
public class HTTPURLResponse: URLResponse, @unchecked Sendable {  // Never changes.
    /// A status of 400 or more is no error: the task has the server's page as its file.
    public let statusCode: Int
    private let fields: [String: String]

    /// By name. In a name that the server has sent in small letters, as HTTP/2 does, each word has
    /// a capital: `Content-Type`.
    public var allHeaderFields: [AnyHashable: Any] { fields }

    /// An answer.
    ///
    /// - Parameters:
    ///   - url: Where it came from.
    ///   - statusCode: Of the answer.
    ///   - httpVersion: Has no effect.
    ///   - headerFields: By name.
    public init?(
        url: URL,
        statusCode: Int,
        httpVersion: String?,
        headerFields: [String: String]?
    ) {
        (self.statusCode, fields) = (statusCode, headerFields ?? [:])
        super.init(url: url, fields: fields)
    }

    /// The value of a header field, however its name is written.
    ///
    /// - Parameter field: The name.
    /// - Returns: Nil when there is none of that name.
    public func value(forHTTPHeaderField field: String) -> String? { fields.value(of: field) }
}

extension HTTPURLResponse {
    /// Nil: the server gave no answer.
    static func of(_ end: SessionTaskEnd) -> HTTPURLResponse? {
        guard let status = end.status else { return nil }
        return of(status, end.url ?? end.task.url, end.headers ?? [])
    }

    static func of(_ status: Int, _ url: String, _ headers: [HTTPField]) -> HTTPURLResponse? {
        guard let url = URL(string: url) else { return nil }
        var fields: [String: String] = [:]
        // Several of one name are one, as HTTP has it.
        for field in headers {
            let key = fields.keys.first { $0.lowercased() == field.name.lowercased() }
            let before = key.flatMap { fields[$0] }
            let name = key ?? field.name.withCapitals
            fields[name] = before.map { "\($0), \(field.value)" } ?? field.value
        }
        return HTTPURLResponse(
            url: url,
            statusCode: status,
            httpVersion: nil,
            headerFields: fields
        )
    }
}

extension String {
    /// Of a name in small letters each word; another one stays as it is.
    fileprivate var withCapitals: String {
        guard self == lowercased() else { return self }
        let words = split(separator: "-", omittingEmptySubsequences: false)
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "-")
    }
}

extension [String: String] {
    fileprivate func value(of name: String) -> String? {
        first { $0.key.lowercased() == name.lowercased() }?.value
    }
}

extension CharacterSet {
    fileprivate static let quotationMarks = CharacterSet(charactersIn: "\" ")
}
