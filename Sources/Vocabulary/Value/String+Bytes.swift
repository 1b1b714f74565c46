/// How one string stands to another by their UTF-8 bytes.
enum ByteOrder { case before, same, after }

// `String`'s own comparison follows canonical equivalence: two spellings of é are equal to it. What
// has one byte form is compared by its bytes.
extension String {
    /// A byte that no text of C and none of D-Bus can hold.
    package var hasZeroByte: Bool {
        let bytes = utf8.span
        for index in bytes.indices where bytes[index] == 0 { return true }
        return false
    }

    package func hasSameBytes(as other: String) -> Bool { compareBytes(to: other) == .same }

    /// The first bytes of both, of which there are so many.
    func hasSameBytes(as other: String, upTo count: Int) -> Bool {
        let (left, right) = (utf8.span, other.utf8.span)
        for index in 0..<count where left[index] != right[index] { return false }
        return true
    }

    func bytesPrecede(_ other: String) -> Bool { compareBytes(to: other) == .before }

    func compareBytes(to other: String) -> ByteOrder {
        let (left, right) = (utf8.span, other.utf8.span)
        let shared = min(left.count, right.count)
        var index = 0
        while index < shared {
            let (mine, theirs) = (left[index], right[index])
            if mine != theirs { return mine < theirs ? .before : .after }
            index += 1
        }
        if left.count == right.count { return .same }
        return left.count < right.count ? .before : .after
    }
}
