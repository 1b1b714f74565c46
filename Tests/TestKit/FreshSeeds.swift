import Linux

/// Seeds of random tests, beside those that are fixed: the commit's. `scripts/seed` makes a number
/// of it, which `make test` hands on; without one they stay the same.
package enum FreshSeeds {
    package static let first =
        CurrentProcess.environment("OFFSTAGE_SEED").flatMap { UInt64($0) } ?? 1

    package static func seeds(_ count: UInt64) -> [UInt64] {
        (0..<count).map { first &+ $0 }
    }

    /// What shows a failure again.
    package static func again(_ filter: String) -> String {
        "again: OFFSTAGE_SEED=\(first) swift test --filter \(filter)"
    }
}
