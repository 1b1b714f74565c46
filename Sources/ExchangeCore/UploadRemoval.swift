package import Vocabulary

extension UploadRemoval {
    /// Those of the request. Its method is `DELETE`.
    package var fields: [HTTPField] {
        headers.forResource(resource.url, of: url)
            + [HTTPField("Upload-Draft-Interop-Version", "\(resource.interop.rawValue)")]
    }
}

extension [HTTPField] {
    /// What of an upload's header fields goes to the resource that the server has made for it:
    /// nothing to another origin, and none that is about the file as a whole.
    func forResource(_ resource: String, of url: String) -> [HTTPField] {
        guard Origin(resource) == Origin(url) else { return [] }
        return filter {
            let name = $0.name.lowercased()
            return !name.hasPrefix("content-") && name != "idempotency-key" && name != "digest"
                && name != "repr-digest"
        }
    }
}
