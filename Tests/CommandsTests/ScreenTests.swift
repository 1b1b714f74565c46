import AppProtocol
import CommandTable
import Commands
import DeviceCore
import Testing
import Vocabulary

/// `offstage status` on a terminal is one screen, whatever there is to tell.
struct ScreenTests {
    private final class Calls {
        var count = 0
    }

    /// Tells what it was given, of each list as many rows as it was asked for.
    private struct Telling: Control {
        let status: Report.Status
        let calls = Calls()

        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            guard let row = try? Control1.row(call.method)?.call(call.arguments),
                case .overview(let overview) = row
            else { throw Failure(.failed, "not expected: \(call.method)") }
            calls.count += 1
            var told = status
            let rows = overview.rows.map { Int($0) } ?? .max
            func cut<Row>(_ list: inout [Row], _ more: inout Int64?) {
                if list.count > rows { more = Int64(list.count - rows) }
                list = Array(list.prefix(rows))
            }
            cut(&told.failing, &told.moreFailing)
            cut(&told.running, &told.moreRunning)
            cut(&told.waiting, &told.moreWaiting)
            do throws(ValueError) {
                return try Reported(told).values
            } catch {
                throw Failure(.failed, "\(error)")
            }
        }
    }

    private static let sections = [
        "Manifests and settings that cannot be used", "Failing", "Running", "Waiting",
    ]
    private static let marks = ["bad", "fails", "runs", "waits"]

    /// `counts`: rows of each section, in their order.
    private static func status(
        _ counts: [Int],
        _ words: String,
        at terminal: TestTerminal
    ) -> Report.Status {
        let now = Report.Time(terminal.now.wall + .hours(3), utcOffset: 3600)
        return Report.Status {
            $0.now = now
            $0.paused = Report.Pause { $0.since = now }
            $0.invalid = (0..<counts[0]).map { number in
                Report.InvalidFile {
                    $0.app = AppID("bad\(number)")
                    ($0.problem, $0.file) = (words, "/a/\(number).desktop")
                }
            }
            $0.failing = (0..<counts[1]).map { number in
                Report.FailingApp {
                    $0.app = AppID("fails\(number)")
                    ($0.failures.count, $0.failures.reason) = (3, words)
                }
            }
            $0.running = (0..<counts[2]).map { number in
                Report.Launch {
                    $0.app = AppID("runs\(number)")
                    ($0.state, $0.task, $0.pid) = ("running", words, 77)
                }
            }
            $0.waiting = (0..<counts[3]).map { number in
                Report.Request {
                    $0.app = AppID("waits\(number)")
                    ($0.task, $0.sentence) = ("processing", words)
                }
            }
            $0.conditions = Condition.allCases.map { condition in
                Report.Condition {
                    $0.condition = condition.row.name
                    let sensing: Sensing = condition == .idle ? .unknown : .known
                    ($0.value, $0.sensing) = ("on", Word(sensing))
                }
            }
            $0.apps = Int64(counts.reduce(0, +))
        }
    }

    static let words = ["short", String(repeating: "a rather long sentence ", count: 14)]

    @Test(arguments: [24, 40, 55], words)
    func `it never has more lines than the terminal, nor longer ones`(
        height: Int,
        words: String
    ) throws {
        var terminal = TestTerminal(width: 80, height: height)
        terminal.isColored = false
        for long in 0..<16 {
            let counts = (0..<4).map { long & 1 << $0 == 0 ? 1 : 5000 }
            let status = Self.status(counts, words, at: terminal)
            let outcome = terminal.run("status", Telling(status: status))
            #expect(outcome.status == 0, "\(outcome)")
            let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
                .dropLast()
            #expect(lines.count < height, "\(counts): \(outcome.output)")
            #expect(lines.allSatisfy { $0.count <= 80 }, "\(counts): \(outcome.output)")
            #expect(lines.contains { $0.hasPrefix("Device") } && lines.contains("Paused"))
            #expect(lines.last?.hasPrefix("\(counts.reduce(0, +)) apps;") == true)
            for (section, (mark, count)) in zip(Self.sections, zip(Self.marks, counts)) {
                #expect(lines.contains { $0 == section }, "\(counts): \(outcome.output)")
                // What is not shown is counted.
                let shown = lines.count { $0.hasPrefix("  \(mark)") }
                let left = shown < count ? "  … and \(count - shown) more: " : ""
                #expect(shown > 0 && lines.contains { $0.hasPrefix(left) }, "\(outcome.output)")
            }
        }
    }

    /// The room there is, is used.
    @Test func `on a high terminal nothing is left out that has room`() {
        let terminal = TestTerminal(width: 80, height: 60)
        let status = Self.status([1, 1, 1, 5000], "short", at: terminal)
        let output = terminal.run("status", Telling(status: status)).output
        #expect(output.count { $0 == "\n" } == 59)
        #expect(output.contains("All that is wrong: offstage lint /a/0.desktop\n"))
        #expect(output.contains("\n\nDevice\n  CONDITION"))
    }

    @Test func `transfers are counted in a line, if there are any`() {
        let terminal = TestTerminal(width: 80, height: 60)
        var status = Self.status([0, 0, 0, 0], "short", at: terminal)
        #expect(!terminal.run("status", Telling(status: status)).output.contains("Transfers"))
        status.transfers = Report.TransferCounts { ($0.running, $0.paused) = (1, 2) }
        let output = terminal.run("status", Telling(status: status)).output
        #expect(output.contains("\nTransfers: 1 running, 2 paused (offstage transfers)\n"))
        status.transfers?.failed = 3
        let failed = terminal.run("status", Telling(status: status)).output
        #expect(failed.contains("\nTransfers: 1 running, 2 paused, 3 failed (offstage"))
    }

    /// Half a command cannot be copied.
    @Test func `a command that has no room is not cut`() {
        let terminal = TestTerminal(width: 80, height: 60)
        var status = Self.status([1, 1, 1, 1], "short", at: terminal)
        let name = String(repeating: "long", count: 20)
        status.invalid?[0].file = "/a/\(name).desktop"
        status.failing[0].app = AppID(name)
        let output = terminal.run("status", Telling(status: status)).output
        #expect(output.contains("  What is wrong: offstage doctor\n"), "\(output)")
        #expect(output.contains("  What it wrote: offstage logs APP\n"), "\(output)")
    }

    /// Its clock is three hours ahead, and all times are by it.
    @Test func `the daemon is asked once, and a pause is by its clock`() throws {
        let terminal = TestTerminal(width: 80, height: 60)
        var status = Self.status([0, 1, 1, 1], "short", at: terminal)
        let end = try #require(status.now.wall) + .hours(2)
        status.paused?.until = Report.Time(end, utcOffset: 3600)
        let telling = Telling(status: status)
        let output = terminal.run("status", telling).output
        #expect(output.contains("All background work is held for 2 h more; paused now."))
        #expect(telling.calls.count == 1)
    }

    @Test func `elsewhere ten rows of each section are shown, and each in full`() {
        let terminal = TestTerminal()
        let status = Self.status([30, 30, 30, 30], Self.words[1], at: terminal)
        let output = terminal.run("status", Telling(status: status)).output
        let lines = output.split(separator: "\n")
        for mark in Self.marks {
            let rows = lines.filter { $0.hasPrefix("  \(mark)") }
            #expect(rows.count == 10, "\(output)")
            #expect(rows.allSatisfy { $0.contains(Self.words[1].dropLast()) }, "\(output)")
        }
        #expect(lines.count { $0.hasPrefix("  … and 20 more: ") } == 4)
        for condition in Condition.allCases where condition != .idle {
            #expect(lines.contains { $0.hasPrefix("  \(condition.row.name) ") })
        }
    }

    @Test(
        arguments: [(nil, true), (.waiting, false), (.running, false)] as [(FailureRetry?, Bool)]
    )
    func `what is tried again is not offered for dismissal`(again: FailureRetry?, isOffered: Bool) {
        let terminal = TestTerminal(width: 80, height: 60)
        var status = Self.status([0, 1, 0, 5000], "short", at: terminal)
        status.failing[0].again = again.map { Word($0) }
        let output = terminal.run("status", Telling(status: status)).output
        #expect(output.contains("offstage dismiss APP") == isOffered, "\(output)")
    }
}
