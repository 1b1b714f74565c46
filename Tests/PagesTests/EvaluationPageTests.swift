import DeviceCore
import Linux
import Simulator
import Testing
import Vocabulary
import Zlib

@testable import Pages

/// The picture of a log.
struct EvaluationPageTests {
    private func record(_ user: String) throws -> UsageRecord {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        let file = root.joined(separator: "/") + "/Fixtures/usage/made-up/events.csv.gz"
        let text = try Gzip.decompress(try Files.read(file), limit: 1 << 20)
        let people = try UserLog.read(text, data: "made-up")
        let log = try #require(people.first { $0.user == user })
        return try #require(UsageRecord(log))
    }

    /// Figures that are not measured, so that nothing has to be computed.
    private func rows(_ budgets: [Int]) -> [EvaluationRow] {
        budgets.flatMap { budget in
            Evaluation.policies.enumerated().map { place, policy in
                var row = EvaluationRow(
                    policy: policy,
                    scope: .device,
                    budget: budget,
                    data: "all",
                    []
                )
                row.pooled = Double(10 * place + budget)
                (row.pooledFrom, row.pooledTo) = (row.pooled - 3, row.pooled + 3)
                row.wakesFromSleepPerDay = Double(budget)
                return row
            }
        }
    }

    /// What stands in quotes after `name`, wherever it does.
    private func values(_ name: String, in text: some StringProtocol) -> [String] {
        text.split(separator: " \(name)=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }

    @Test func manyBudgetsAreLinesAndOneIsBars() throws {
        let lines = EvaluationPage(rows: rows([2, 4]), users: 4).text
        #expect(lines.contains("<g class=\"offstage\"><path class=\"band\""))
        #expect(!lines.contains("class=\"bar\""))
        #expect(lines.contains("class=\"note offstage\""))
        let bars = EvaluationPage(rows: rows([4]), users: 4).text
        #expect(bars.split(separator: "class=\"bar\"").count == 11)
        #expect(bars.split(separator: "class=\"range\"").count == 6)
        #expect(!bars.contains("class=\"line\""))
        // It is drawn on a ground of its own, after the bar: seen inside it.
        for part in bars.split(separator: "class=\"bar\"").dropFirst().prefix(5) {
            let halo = try #require(part.firstRange(of: "class=\"halo\""))
            let range = try #require(part.firstRange(of: "class=\"range\""))
            #expect(halo.upperBound < range.lowerBound)
        }
    }

    /// Rows of a budget of 4 for both scopes.
    private func compared(own: Double, fixed: Double, spent: Double = 4) -> [EvaluationRow] {
        RefreshBudgetScope.allCases.flatMap { scope in
            rows([2, 4, 8, 24]).map { row in
                var row = row
                row.scope = scope
                row.spentPerAppDay = row.policy == Evaluation.own ? spent : 4
                guard row.budget == 4, scope == .device else { return row }
                if row.policy == Evaluation.own { row.pooled = own }
                if row.policy == Baseline.fixed.rawValue { row.pooled = fixed }
                return row
            }
        }
    }

    @Test(arguments: [
        (43.2, 9.7, 4.0, "43 % of opens are fresh, against 10 % with a fixed period, at the same "),
        (
            12.1, 31.9, 3.95,
            "12 % of opens are fresh, against 32 % with a fixed period, at the same"
        ),
        (43.2, 9.7, 3.0, "against 10 % with a fixed period, with 25 % fewer refreshes."),
        (43.2, 9.7, 5.0, "against 10 % with a fixed period, with 25 % more refreshes."),
    ])
    func thePageBeginsWithWhatTheFiguresComeTo(
        own: Double,
        fixed: Double,
        spent: Double,
        words: String
    ) throws {
        let rows = compared(own: own, fixed: fixed, spent: spent)
        let page = EvaluationPage(rows: rows, users: 4).text
        let body = try #require(page.firstRange(of: "<body>\n"))
        #expect(page[body.upperBound...].hasPrefix("<h1>"))
        let heading = page[body.upperBound...].prefix { $0 != "\n" }
        #expect(heading.contains(words), "\(heading)")
        // One person's fixed period may be missing: then nothing is claimed.
        let alone = rows.filter { $0.policy == Evaluation.own }
        #expect(!EvaluationPage(rows: alone, users: 4).text.contains("<h1>"))
    }

    @Test func theScopesHaveOneOrder() throws {
        let page = EvaluationPage(rows: compared(own: 2, fixed: 1), users: 4).text
        let shared = try #require(page.firstRange(of: "<h2>One budget for the device"))
        let own = try #require(page.firstRange(of: "<h2>A budget for each app"))
        #expect(shared.lowerBound < own.lowerBound)
        let plan = Evaluation.Plan(budgets: [1], scopes: [.app, .device])
        let timeline = UsageTimeline(try record("ada"), plan).markup
        let first = try #require(timeline.firstRange(of: "per app and day, one budget"))
        let second = try #require(timeline.firstRange(of: "per app and day, each app its own"))
        #expect(first.lowerBound < second.lowerBound)
    }

    @Test func eachChartSaysWhichWayIsBetter() {
        for (budgets, marks) in [([2, 4], ["↑", "↖"]), ([4], ["→", "←"])] {
            let page = EvaluationPage(rows: rows(budgets), users: 4).text
            let figures = page.split(separator: "<figure>").dropFirst()
            #expect(figures.count == 2)
            for (figure, mark) in zip(figures, marks) {
                #expect(figure.contains("class=\"better\"") && figure.contains("\(mark) better"))
            }
        }
    }

    @Test func ofSeveralPricesOfAWakeTheBestIsDrawn() {
        var rows = rows([2, 4])
        for (index, row) in rows.enumerated() where row.policy == Evaluation.own {
            rows[index].wakePrice = 16
            var dear = row
            dear.wakePrice = 400
            (dear.pooled, dear.wakesFromSleepPerDay) = (
                row.pooled - 1, row.wakesFromSleepPerDay - 1
            )
            rows.append(dear)
        }
        // No worse in anything than 400 with a budget of 2.
        rows[0].wakesFromSleepPerDay = 0.5
        let page = EvaluationPage(rows: rows, users: 4).text
        let figures = page.split(separator: "<figure>")
        // By budget one price is drawn, by wakes the best of both: (2, 16), (4, 400), (4, 16).
        #expect(figures[1].split(separator: "<circle").count == 1 + 5 * 2)
        #expect(figures[2].split(separator: "<circle").count == 1 + 4 * 2 + 3 + 2)
        #expect(figures[2].split(separator: "class=\"ring\"").count == 1 + 2)
        #expect(figures[2].contains("all values of <code>wake-price</code>, 16, 400; rings"))
        #expect(figures[2].contains("offstage, budget 4, wake-price 400: 3.0 % fresh"))
    }

    @Test func ofOnePersonThereAreNoSamples() {
        let page = EvaluationPage(rows: rows([2, 4]), users: 1).text
        #expect(page.contains("The log of one user") && page.contains("class=\"line\""))
        #expect(!page.contains("class=\"band\"") && !page.contains("95 %"))
        #expect(!page.contains("fresh [") && !page.contains("mean of users"))
    }

    @Test func allThatWasAskedForIsDrawnAndNoRefreshLiesOnAnother() throws {
        let plan = Evaluation.Plan(budgets: [2, 8], scopes: [.device])
        let timeline = UsageTimeline(try record("ada"), plan).markup
        for budget in plan.budgets {
            #expect(timeline.contains("\(budget) refreshes per app and day, one budget"))
        }
        let days = timeline.split(separator: "<h3>").dropFirst()
        #expect(days.count > 10)
        for day in days {
            let drawing = day.split(separator: "<details>")[0]
            let places = zip(values("cx", in: drawing), values("cy", in: drawing)).map { "\($0)" }
            #expect(!places.isEmpty && Set(places).count == places.count)
            // The table tells of all of them.
            #expect(day.split(separator: "<tr><td>").count == places.count + 1)
        }
    }

    @Test func nothingIsDrawnAfterTheEndOfTheLog() throws {
        let record = try record("ada")
        let last = Double(record.days) * 86_400 - 60
        let end = try #require(record.inUse.last?.end)
        #expect(end < last)
        let all = [end - 60, last].map { RefreshMoment(app: 0, time: $0) }
        let life = TimelineLife(record, all, budget: 4, scope: .app)
        #expect(life.moments.map(\.time) == [(end - 60).rounded(.toNearestOrEven)])
        #expect(life.markup.contains("the log ends"))
    }

    @Test func budgetsStandAtTheirLogarithms() {
        let chart = EvaluationPage(rows: rows([2, 4, 8, 24, 25]), users: 4).text
        let first = chart.split(separator: "<figure>")[1]
        // Of the scale below, by what stands there.
        var places: [String: Double] = [:]
        let start = "class=\"scale\" text-anchor=\"middle\" x=\""
        for tick in first.split(separator: start).dropFirst() {
            let text = tick.split(separator: ">")[1].prefix { $0 != "<" }
            places[String(text)] = Double(tick.prefix { $0 != "\"" })
        }
        // No word on the one before.
        #expect(places.keys.sorted() == ["2", "24", "4", "8"])
        let (two, four) = (places["2"] ?? 0, places["4"] ?? 0)
        let (eight, last) = (places["8"] ?? 0, places["24"] ?? 0)
        #expect(abs((eight - four) - (four - two)) < 0.2 && four > two)
        #expect(abs((last - eight) / (four - two) - 1.585) < 0.01)
    }

    @Test func aWholeDayIsAsWideAsThePage() throws {
        let plan = Evaluation.Plan(budgets: [4], scopes: [.device])
        let timeline = UsageTimeline(try record("ada"), plan).markup
        let places = values("cx", in: timeline).filter { $0 != "8" }
        #expect(!places.isEmpty)
        let isWithin = places.allSatisfy { place in
            place.hasSuffix("%") && (0...100).contains(Double(place.dropLast()) ?? -1)
        }
        #expect(isWithin)
    }

    @Test func whyIsSaidInWords() throws {
        let plan = Evaluation.Plan(budgets: [4], scopes: [.device])
        let timeline = UsageTimeline(try record("ada"), plan).markup
        let words = " % likely to be opened within half an hour; a refresh was worth it "
        #expect(timeline.contains(words + "from ") && !timeline.contains("from 0.0 %"))
    }

    @Test func daysHaveTheirDates() throws {
        let record = try record("ada")
        #expect(UsageTimeline.date(0, record) == "Fri, 1 Mar 2024")
    }
}
