import CAllocationCounter

/// Counts what a piece of code asks of malloc, on its own thread. Judge in release: a debug build
/// allocates more.
package enum AllocationCounter {
    /// False under a sanitizer.
    package static var isAvailable: Bool { allocation_count() >= 0 }

    /// How many allocations `body` made.
    package static func count(_ body: () throws -> Void) rethrows -> Int {
        let before = allocation_count()
        try body()
        return Int(allocation_count() - before)
    }
}
