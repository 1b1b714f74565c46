import Linux
import Pages
import Simulator
import TestKit
import Testing
import Vocabulary

/// The pictures of the README are what this build draws of the figures that they show: replaying
/// the logs takes minutes, drawing does not.
struct FreshnessPictureTests {
    private static let pictures = ["freshness-budget.svg", "freshness-wakes.svg"]
    private static let figures = Document("Tests/Fixtures/freshness/rows.csv")

    private static func rows() throws -> [EvaluationRow] {
        let lines = try figures.contents.split(separator: "\n").dropFirst()
        return try lines.map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            try #require(cells.count == 7, "\(line)")
            var row = EvaluationRow(
                policy: String(cells[0]),
                scope: .device,
                budget: try #require(Int(cells[1])),
                wakePrice: Int64(cells[2]),
                data: "all",
                []
            )
            row.pooled = try #require(Double(cells[3]))
            row.pooledFrom = try #require(Double(cells[4]))
            row.pooledTo = try #require(Double(cells[5]))
            row.wakesFromSleepPerDay = try #require(Double(cells[6]))
            return row
        }
    }

    /// What the script makes of a page with these figures.
    private func drawn(_ rows: [EvaluationRow]) throws -> ScratchDirectory {
        let scratch = ScratchDirectory()
        let page = try scratch.write("page.html", EvaluationPage(rows: rows, users: 30).text)
        let script = Document("scripts/freshness-picture").file
        let outcome = try Command(script, "--into", scratch("drawn"), page).run()
        #expect(outcome.succeeded, "\(outcome)")
        return scratch
    }

    @Test func `they are what this build draws of their figures`() throws {
        let scratch = try drawn(Self.rows())
        for name in Self.pictures {
            try Document("docs/\(name)").expect(try Files.text(scratch("drawn/\(name)")))
        }
        // Nothing is lost on the way through the page, so one that is drawn anew has its figures.
        #expect(try Files.text(scratch("drawn/rows.csv")) == Self.figures.contents)
    }

    @Test func `other figures make another picture`() throws {
        var rows = try Self.rows()
        rows[0].pooled += 0.5
        let scratch = try drawn(rows)
        for name in Self.pictures {
            let picture = try Files.text(scratch("drawn/\(name)"))
            #expect(picture != (try Document("docs/\(name)").contents), "\(name)")
        }
    }

    /// A page on a phone is 358 pixels wide between its margins.
    @Test(arguments: pictures)
    func `letters are readable on a phone`(name: String) throws {
        #expect(try Document("README.md").contents.contains("](docs/\(name))"))
        let picture = try Document("docs/\(name)").contents
        func number(after text: String) throws -> Double {
            let start = try #require(picture.firstRange(of: text), "\(text)").upperBound
            return try #require(Double(picture[start...].prefix(while: \.isNumber)))
        }
        let width = try number(after: " width=\"")
        #expect(try number(after: "viewBox=\"0 0 ") == width)
        for rule in ["text{fill:var(--ink);font-size:", "text.note{font-size:"] {
            #expect(try number(after: rule) * min(1, 358 / width) >= 10.5, "\(rule)")
        }
    }

    /// What the README says of them is in the table of docs/prediction.md.
    @Test func `the figures in the text are those of the table`() throws {
        let table = try Document("docs/prediction.md").contents.split(separator: "\n")
        func cell(_ row: String, _ budget: Int) throws -> (fresh: Substring, wakes: Substring) {
            let line = try #require(table.first { $0.hasPrefix("| \(row) |") }, "\(row)")
            let cells = line.split(separator: "|").map { $0.split(separator: " ") }
            let column = try #require([2, 4, 8, 24].firstIndex(of: budget)) + 1
            return (cells[column][0], cells[column][1].filter { !"()".contains($0) }[...])
        }
        let text = try Document("README.md").contents.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        let (own, fixed) = (try cell("**16**", 4), try cell("*fixed*", 4))
        #expect(text.contains("\(own.fresh) % of opens are fresh, against \(fixed.fresh) % with"))
        #expect(
            text.contains("takes \(own.wakes) wakes from sleep a day instead of \(fixed.wakes)")
        )
        let (dear, waking) = (try cell("400", 4), try cell("*waking*", 24))
        #expect(
            text.contains("a price of 400 it is \(dear.fresh) % fresh with \(dear.wakes) wakes")
        )
        let many = try cell("400", 24)
        #expect(
            text.contains(
                "\(many.fresh) % of opens are fresh with \(many.wakes) wakes a day, where "
                    + "*waking* has \(waking.fresh) % with \(waking.wakes)."
            )
        )
        #expect(text.contains("With a budget of 24 and a price of 400"))
    }
}
