import Vocabulary

/// Structured fields (RFC 9651), as far as uploads have them.
extension [HTTPField] {
    func integer(_ name: String) -> Int64? {
        value(of: name).flatMap { Self.integer(Self.item($0)) }
    }

    /// `?1` or `?0`; nil: neither.
    func flag(_ name: String) -> Bool? {
        switch value(of: name).map(Self.item) {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// Whether the server has the whole file; nil: it does not say. The name of the first drafts
    /// means the opposite, and some servers still say it.
    var isUploadComplete: Bool? {
        flag("Upload-Complete") ?? flag("Upload-Incomplete").map { !$0 }
    }

    /// An integer of a dictionary.
    func member(_ key: String, of name: String) -> Int64? {
        for member in values(of: name).flatMap({ $0.split(separator: ",") }) {
            let parts = Self.item(String(member)).split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == key { return Self.integer(parts[1]) }
        }
        return nil
    }

    /// Without parameters and spaces.
    private static func item(_ text: String) -> Substring {
        var item = text.prefix { $0 != ";" }.drop { $0 == " " || $0 == "\t" }
        while item.last == " " || item.last == "\t" { item.removeLast() }
        return item
    }

    private static func integer(_ text: Substring) -> Int64? {
        guard (1...15).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(text)
    }
}
