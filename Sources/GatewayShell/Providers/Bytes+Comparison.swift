import Glibc

extension ArraySlice where Element == UInt8 {
    /// Equality by one call instead of a step for each byte.
    func isSame(as other: ArraySlice<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { own in
            unsafe other.withUnsafeBytes { other in
                guard let own = own.baseAddress, let start = other.baseAddress else { return true }
                return unsafe memcmp(own, start, other.count) == 0
            }
        }
    }
}
