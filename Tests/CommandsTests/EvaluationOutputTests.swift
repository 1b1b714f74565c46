import Linux
import Simulator
import Pages
import TestKit
import Testing
import Vocabulary

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

    @Test func aDearerWakeIsAnswerOfItsOwnAndMeansFewerWakes() throws {
        let line = ["evaluate", "--budget", "8", "--scope", "device", EvaluationTests.log]
        let outcome = TestTerminal().run(line + ["--wake-price", "0,1000"])
        #expect(outcome.status == 0 && outcome.output.contains("WAKE PRICE"), "\(outcome)")
        #expect(!TestTerminal().run(line).output.contains("WAKE PRICE"))
        var plan = Evaluation.Plan(budgets: [8], scopes: [.device])
        (plan.wakePrices, plan.hasBaselines) = ([0, 1000], false)
        var evaluation = Evaluation(plan)
        for person in try EvaluationTests.people() { evaluation.add(person) }
        let rows = evaluation.rows.filter { $0.data == "all" }
        #expect(rows.map(\.wakePrice) == [0, 1000])
        #expect(rows[1].wakesFromSleepPerDay < rows[0].wakesFromSleepPerDay)
        for row in rows { #expect(outcome.output.contains(row.wakesFromSleepPerDay.tenths)) }
        try JSONTests.expect("evaluate", TestTerminal().run(line + ["--json"]).output)
    }

    @Test func theSharedBudgetStandsFirstEverywhere() throws {
        let outcome = TestTerminal().run(["evaluate", "--budget", "1", EvaluationTests.log])
        let shared = try #require(outcome.output.firstRange(of: "One budget for the device"))
        let own = try #require(outcome.output.firstRange(of: "A budget for each app"))
        #expect(shared.lowerBound < own.lowerBound)
        // The documents' tables, by their heads, and what they say of the option.
        var heads = 0
        for name in ["docs/prediction.md", "docs/man/offstage.1"] {
            let text = try Document(name).contents
            for line in text.split(separator: "\n") {
                guard let device = line.firstRange(of: "per device"),
                    let app = line.firstRange(of: "per app |")
                else { continue }
                #expect(device.lowerBound < app.lowerBound, "\(name): \(line)")
                heads += 1
            }
        }
        #expect(heads > 0)
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
