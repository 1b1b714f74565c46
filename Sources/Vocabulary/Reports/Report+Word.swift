extension Report {
    /// One word out of a set. A newer daemon may say one that this version does not know.
    package struct Word<Known: RawRepresentable<String>>: RawRepresentable, Codable, Hashable,
        Sendable
    {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }
        package init(_ known: Known) { rawValue = known.rawValue }

        /// Nil: this version does not know it.
        package var known: Known? { Known(rawValue: rawValue) }
    }
}
