/// Why bytes, text or a tree of values is not what it should be.
package struct ValueError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: String, Sendable {
        /// The input ends in the middle of a value.
        case truncated
        /// Something follows the value.
        case trailing
        /// Well formed, but not the one form that this value has.
        case notCanonical
        /// A kind of item that values do not have: a tag, an indefinite length, a key that is not
        /// text, an integer of more than 64 bits with sign.
        case unsupported
        /// Text that is not UTF-8.
        case notText
        /// A key that occurs twice in one map.
        case duplicateKey
        /// More than `Value.depthLimit` levels.
        case tooDeep
        /// More bytes than the caller allows.
        case tooLarge
        /// Not JSON.
        case syntax
        /// A field that must be there is not.
        case missing
        /// A field of another kind, or with a value that its type does not have.
        case mismatch
    }

    package let reason: Reason
    /// The byte at which the input goes wrong; nil for an error within a tree.
    package let offset: Int?
    /// The field within a tree, such as `launches[3].app`; empty for the tree itself.
    package let path: String
    /// What was found and what would be right.
    package let detail: String

    package init(_ reason: Reason, offset: Int? = nil, path: String = "", _ detail: String) {
        (self.reason, self.offset, self.path, self.detail) = (reason, offset, path, detail)
    }

    package var description: String {
        if let offset { return "byte \(offset): \(detail)" }
        return path.isEmpty ? detail : "\(path): \(detail)"
    }
}
