/// A word of a list that a later version of the other side may make longer; one that is not known
/// here is kept as it was sent.
package struct Word<Known: RawRepresentable<String> & Sendable>: Hashable, Sendable, Codable {
    package let text: String

    package init(_ known: Known) { text = known.rawValue }
    package init(text: String) { self.text = text }

    package init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// Nil: it is of a later version.
    package var known: Known? { Known(rawValue: text) }

    package static func == (word: Word, known: Known) -> Bool { word.text == known.rawValue }
    package static func != (word: Word, known: Known) -> Bool { word.text != known.rawValue }
}
