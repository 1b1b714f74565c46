import DeviceCore
import Linux
import Simulator
import TestKit
import Testing

@testable import Commands

/// What `evaluate` prints and writes.
struct EvaluationOutputTests {
    @Test func aPageNeedsNothingElse() throws {
        let scratch = ScratchDirectory()
        let file = scratch.path + "/page.html"
        let outcome = TestTerminal().run([
            "evaluate", "--budget", "1", "--scope", "app", "--html", file, "--user", "ada",
            EvaluationTests.log,
        ])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let page = try Files.text(file)
        #expect(page.hasPrefix("<!doctype html>") && page.contains("prefers-color-scheme:dark"))
        #expect(!page.contains("http") && !page.contains("src="))
        #expect(page.contains("<h2>The days of ada with offstage: the last third of the log</h2>"))
        #expect(page.contains("1 refresh per app and day, each app its own"))
        for policy in Evaluation.policies {
            #expect(page.contains("<dt class=\"\(policy)\">\(policy)</dt>"))
        }
    }

    @Test func tablesOfOnePersonHaveNoSamples() {
        let rows = Evaluation.policies.map {
            EvaluationRow(policy: $0, scope: .device, budget: 4, data: "all", [])
        }
        for (users, hasSamples) in [(1, false), (2, true)] {
            let tables = TestTerminal().record { console in
                EvaluationTables(rows: rows, users: users).print(console)
                return 0
            }
            #expect(tables.output.contains("SAMPLES") == hasSamples)
            #expect(tables.output.contains("FRESH %"))
        }
    }
}
