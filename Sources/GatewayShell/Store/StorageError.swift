/// The store could not do it, in its own words.
package struct StorageError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
