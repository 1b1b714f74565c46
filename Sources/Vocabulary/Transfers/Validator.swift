/// What tells one version of an object on a server from every other, byte for byte (a strong
/// validator, RFC 9110 section 8.8). Only with one may a download go on where it stopped.
package enum Validator: Hashable, Sendable, Codable {
    /// With its quotation marks, as the server wrote it.
    case entityTag(String)
    /// A date that is strong by section 8.8.2.2, as the server wrote it.
    case lastModified(String)

    /// As the value of `If-Range`.
    package var text: String {
        switch self {
        case .entityTag(let text), .lastModified(let text): text
        }
    }
}

/// Where a download goes on: bytes that are durable, and of which version they are.
package struct ResumePoint: Hashable, Sendable, Codable {
    /// Bytes from the start of the file; more than 0.
    package var offset: Int64
    package var validator: Validator
    /// The length of the whole object, in bytes.
    package var total: Int64?

    package init(offset: Int64, validator: Validator, total: Int64?) {
        (self.offset, self.validator, self.total) = (offset, validator, total)
    }
}
