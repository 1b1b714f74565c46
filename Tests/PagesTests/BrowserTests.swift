import Linux
import Simulator
import TestKit
import Testing
import Vocabulary
import Zlib

@testable import Pages

/// The page as a browser draws it, on phones and on desktops.
@Suite(.enabled(if: Command.exists("chromium"), "chromium is not installed"))
struct BrowserTests {
    private static let widths = [320, 360, 412, 600, 820, 1280]

    /// One person's rows and days, computed: names and figures are as long as they get. With the
    /// intervals that several people would have.
    private func page(_ plan: Evaluation.Plan) throws -> String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        let file = root.joined(separator: "/") + "/Fixtures/usage/made-up/events.csv.gz"
        let text = try Gzip.decompress(try Files.read(file), limit: 1 << 20)
        let people = try UserLog.read(text, data: "made-up")
        let person = try #require(people.first { $0.user == "ada" })
        var evaluation = Evaluation(plan)
        evaluation.add(person)
        let rows = evaluation.rows.map { row in
            var row = row
            (row.pooledFrom, row.pooledTo) = (max(0, row.pooled - 4), min(100, row.pooled + 3))
            return row
        }
        var page = EvaluationPage(rows: rows, users: 30)
        let days = Evaluation.Plan(budgets: [8], scopes: [.device])
        page.timeline = UsageTimeline(try #require(UsageRecord(person)), days)
        return page.text
    }

    /// What is wrong with a page at these widths, in frames: a window would not get so narrow.
    private func faults(_ page: String) throws -> [Substring] {
        let scratch = ScratchDirectory()
        let source = page.map { $0 == "&" ? "&amp;" : $0 == "\"" ? "&quot;" : "\($0)" }.joined()
        let frames = Self.widths.map { width in
            "<iframe width=\"\(width)\" height=\"900\" srcdoc=\"\(source)\">"
        }
        try scratch.write(
            "frames.html",
            "<!doctype html><meta charset=\"utf-8\"><style>iframe{border:0}</style><body>"
                + "<script>\(Self.script)</script>\(frames.joined(separator: "</iframe>"))</iframe>"
        )
        var browser = Command(
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--user-data-dir=\(scratch("profile"))",
            "--dump-dom",
            "file://\(scratch("frames.html"))"
        )
        browser.environment = Command.cleanEnvironment(["HOME": scratch.path])
        let outcome = try browser.run()
        let drawn = try #require(outcome.output.split(separator: "</iframe>").last)
        try #require(drawn.contains("measured \(Self.widths.count) frames"), "\(outcome.errors)")
        return drawn.split(separator: "\n").filter { $0.contains(": ") }
    }

    @Test func noTextLiesOnAnotherNorIsTooSmallAndNothingIsWiderThanThePage() throws {
        var plan = Evaluation.Plan(budgets: [2, 4, 8, 24], scopes: [.device])
        plan.wakePrices = [16, 100, 1000]
        let faults = try faults(try page(plan))
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test func barsHaveRoomForTheirNamesAndFigures() throws {
        let faults = try faults(try page(Evaluation.Plan(budgets: [8], scopes: [.device])))
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test func whatIsWrongIsFound() throws {
        let chart = Chart(
            title: "",
            xTitle: "a title below that is far too long to find room on the narrowest of phones",
            yTitle: "",
            xTicks: [(0, "0"), (1, "1")],
            better: .up,
            lines: []
        )
        let wide = "<p style=\"width:500px\">wide</p>" + chart.svg
        let small = "text{font-size:9px}"
        let page = Page(title: "", style: PageStyle(rules: small), body: wide).text
        let faults = try faults(page)
        #expect(faults.contains { $0.hasPrefix("320: is 5") })
        #expect(faults.contains { $0.contains("360: 20 has letters of ") })
        #expect(!faults.contains { $0.hasPrefix("1280: is ") })
        let crowded = Chart(
            title: "",
            xTitle: "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
            yTitle: "",
            xTicks: [(0, "a number as long as half the chart is"), (0.2, "another"), (1, "")],
            better: .up,
            lines: []
        )
        let lies = try self.faults(Page(title: "", style: PageStyle(), body: crowded.svg).text)
        #expect(lies.contains { $0.contains("another lies on a number") }, "\(lies)")
        #expect(lies.contains { $0.contains("leaves the page") }, "\(lies)")
    }

    /// Runs in the page around the frames; what it finds is the last text of that page.
    private static let script = #"""
        function faults(drawing, width) {
            const texts = [...drawing.querySelectorAll("text")], found = [];
            const whole = drawing.viewBox.baseVal.width;
            const scale = whole ? drawing.getBoundingClientRect().width / whole : 1;
            const boxes = texts.map(text => text.getBoundingClientRect());
            for (const [index, text] of texts.entries()) {
                const name = text.textContent, box = boxes[index];
                const size = parseFloat(getComputedStyle(text).fontSize) * scale;
                if (size < 9) found.push(name + " has letters of " + size.toFixed(1));
                if (box.left < -1 || box.right > width + 1) found.push(name + " leaves the page");
                for (const [place, other] of boxes.slice(0, index).entries())
                    if (box.left < other.right - 1 && other.left < box.right - 1
                        && box.top < other.bottom - size / 4 && other.top < box.bottom - size / 4)
                        found.push(name + " lies on " + texts[place].textContent);
            }
            return found;
        }
        function measure(frame) {
            const page = frame.contentDocument, width = frame.clientWidth;
            // What is folded away is looked at, too.
            page.querySelectorAll("details").forEach(one => one.open = true);
            const found = new Set(), actual = page.documentElement.scrollWidth;
            if (actual > width) found.add("is " + actual + " wide");
            for (const drawing of page.querySelectorAll("figure svg, .hours > svg:last-child"))
                faults(drawing, width).forEach(fault => found.add(fault));
            return [...found].map(fault => "\n" + width + ": " + fault);
        }
        addEventListener("load", () => {
            const frames = [...document.querySelectorAll("iframe")];
            const found = frames.flatMap(measure);
            document.body.append(...found, "\nmeasured " + frames.length + " frames\n");
        });
        """#
}
