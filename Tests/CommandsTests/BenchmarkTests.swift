import Linux
import TestKit
import Testing

/// The program behind `make bench`.
struct BenchmarkTests {
    @Test func aGroupThatIsNoneIsSaidInOneLine() throws {
        let outcome = try Command(Products.path(of: "offstage-bench"), "nonsense/x").run()
        #expect(outcome.status == .exited(2) && outcome.output.isEmpty)
        let start = "offstage-bench: there is no group nonsense/x; there is footprint, "
        #expect(outcome.errors.hasPrefix(start), "\(outcome.errors)")
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }
}
