import AppProtocol
import CommandTable
import DeviceCore
import Linux
import TestKit
import Testing
import Vocabulary

@testable import Commands

/// More transfers than one answer tells, and more files than one call takes.
struct ManyTransfersTests {
    private let terminal = TestTerminal()
    private let scratch = ScratchDirectory()

    private func list(_ count: Int) throws -> String {
        let lines = (1...count).map { "https://example.org/\($0)\n" }
        return try scratch.write("list", lines.joined())
    }

    /// Numbers of the transfers that are asked for, call by call.
    private func asked(_ control: CoreControl) -> [[Int64]?] {
        control.calls.filter { $0.method == Control1.TransferPage.name }.map { call in
            call.arguments.first?["transfers"]?.listValue?.compactMap(\.integerValue)
        }
    }

    @Test func `all are listed in the order in which they go, part by part`() throws {
        let control = CoreControl(at: terminal.now)
        control.send(.condition(.network, .hand, .value(0)))
        let orders = (1...1200).map {
            TransferOrder(url: "https://example.org/\($0)", directory: "/tmp", name: "\($0)")
        }
        control.send(.user(.transfer(.enqueue(orders, token: nil)), reply: ReplyToken(1)))
        guard case .transfers(let ids) = control.answer, let last = ids.last else {
            Issue.record("they were not taken")
            return
        }
        let move = TransferMove(place: .first)
        control.send(.user(.transfer(.move([last], move)), reply: ReplyToken(2)))
        let wanted = ([last] + Array(ids.dropLast())).map { Int64(clamping: $0.number) }
        let printed = try ValueJSON.parse(
            terminal.run("transfers --json", control).output,
            limit: 1 << 24
        )
        #expect(printed.listValue?.compactMap { $0["id"]?.integerValue } == wanted)
        #expect(asked(control) == [nil, Array(wanted[500..<1000]), Array(wanted[1000...])])
    }

    /// Takes files, and says of each transfer that it is finished.
    private final class Taking: Control {
        /// How many calls it takes.
        private let most: Int
        private(set) var calls: [(files: [Value], token: String)] = []
        private(set) var pages: [[Int64]] = []
        /// How many were asked for whenever it was asked how far they are.
        private(set) var watched: [Int] = []

        init(most: Int = .max) { self.most = most }

        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            if call.method == Control1.TransferProgress.name {
                let ids = call.arguments.first?["transfers"]?.listValue ?? []
                watched.append(ids.count)
                var progress = Report.TransferProgress()
                progress.finished = Int64(ids.count)
                let last = Int(call.arguments.first?["ended"]?.integerValue ?? 0)
                progress.ended = ids.suffix(last).compactMap(\.integerValue).map(Self.finished)
                return (try? progress.values) ?? []
            }
            if call.method == Control1.TransferPage.name {
                let ids = call.arguments.first?["transfers"]?.listValue ?? []
                pages.append(ids.compactMap(\.integerValue))
                let listed = ListedTransfers(pages.last ?? []) { $0.map(Self.finished) }
                return (try? listed.values) ?? []
            }
            guard calls.count < most else { throw Failure(.failed, "no more are kept") }
            let first = calls.reduce(1) { $0 + $1.files.count }
            let files = call.arguments.first?.listValue ?? []
            calls.append((files, call.arguments.last?["token"]?.stringValue ?? ""))
            let ids = (first..<first + files.count).map { Value.integer(Int64($0)) }
            return [["transfers": .list(ids)]]
        }

        fileprivate static func finished(_ id: Int64) -> Report.Transfer {
            var transfer = Report.Transfer()
            (transfer.id, transfer.state) = (TransferID(UInt64(clamping: id)), Word(.finished))
            transfer.ended = Report.Time(rawValue: "2026-03-03T12:00:00+01:00")
            return transfer
        }
    }

    @Test func `a long list is handed over in several calls, each with its own token`() throws {
        let control = Taking()
        let outcome = terminal.run(["download", "-d", "/tmp", "-i", try list(12_000)], control)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(control.calls.map(\.files.count) == [10_000, 2000])
        let tokens = control.calls.map(\.token)
        #expect(Set(tokens).count == 2 && !tokens.contains(""))
        let urls = control.calls.flatMap(\.files).compactMap { $0["url"]?.stringValue }
        #expect(urls == (1...12_000).map { "https://example.org/\($0)" })
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 12_000)
        #expect(lines.last == "transfer 12000: https://example.org/12000")
    }

    @Test func `who waits asks for the own ones only`() throws {
        let control = Taking()
        let console = Console(
            width: nil,
            isColored: false,
            errorsAreSeen: false,
            now: terminal.now,
            output: { _ in },
            errors: { _ in }
        )
        let invocation = Invocation(
            options: try Options([], []),
            console: console,
            connect: { () throws(Failure) -> any Control in control },
            patience: Patience()
        )
        let interrupted = try EventCounter()
        let last = try TransferWatch(invocation, Array(1...1200))
            .follow(interrupted.descriptor.number)
        #expect(last.map(\.id.number) == Array(1...1200))
        #expect(control.watched == [1200])
        // The last 250 were told with the numbers.
        #expect(control.pages.map(\.count) == [500, 450])
        #expect(control.pages.flatMap(\.self) == Array(1...950))
    }

    @Test func `who watches asks for what is seen, and for what has ended once`() {
        var watched = WatchedTransfers(Array(1...10_000))
        let question = watched.question(rows: 24, tellsEnds: false)
        #expect(question.rows == 24 && question.transfers?.count == 10_000)
        var told = Report.TransferProgress()
        (told.open, told.waiting, told.finished) = (9_990, 9_990, 10)
        told.ended = (1...10).map(Taking.finished)
        let progress = watched.take(told)
        #expect(progress.finished == 10 && progress.all == 10_000)
        #expect(progress.ended.map(\.id.number) == Array(6...10))
        #expect(watched.question(rows: 24, tellsEnds: false).transfers == Array(11...10_000))
        // They still count.
        (told.finished, told.ended) = (0, [])
        let next = watched.take(told)
        #expect(next.finished == 10 && next.all == 10_000 && next.ended.count == 5)
        let all = Control1.TransferProgress { ($0.rows, $0.ended) = (250, 5) }
        #expect(WatchedTransfers(nil).question(rows: 1000, tellsEnds: false) == all)
        let ends = WatchedTransfers(nil).question(rows: 10, tellsEnds: true).ended
        #expect(ends == Control1.TransferProgress.most, "each end is told")
    }

    /// Knows of nothing whether the network is metered.
    private struct Blind: Control {
        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            [["transfers": [7], "unsensed": ["metered"]]]
        }
    }

    @Test(arguments: [false, true])
    func `what waits for a condition that nothing tells is warned of`(isJSON: Bool) {
        let words = ["download", "-d", "/tmp", "--unmetered", "http://localhost/a"]
        let outcome = terminal.run(words + (isJSON ? ["--json"] : []), Blind())
        #expect(outcome.status == 0)
        #expect(outcome.errors.hasPrefix("offstage: warning: no source here reports "))
        #expect(outcome.errors.hasSuffix("it waits until \"offstage set metered off\"\n"))
        #expect(outcome.output.contains("\"unsensed\"") == isJSON, "\(outcome.output)")
    }

    @Test func `it is said which are stored when a later call is refused`() throws {
        let control = Taking(most: 1)
        let outcome = terminal.run(["download", "-d", "/tmp", "-i", try list(12_000)], control)
        #expect(outcome.status == 1 && outcome.output.isEmpty)
        #expect(
            outcome.errors
                == "offstage: no more are kept; the first 10000 files are stored, "
                + "as transfers 1 to 10000: repeat it with the rest\n"
        )
    }

    @Test func `a long list with one URL that no call takes is not handed over in part`() throws {
        let control = Taking()
        let lines = (1...12_000).map { "https://example.org/\($0)\n" }
        let long = "https://example.org/" + String(repeating: "a", count: 8192)
        let path = try scratch.write("list", lines.joined() + long)
        let outcome = terminal.run(["download", "-d", "/tmp", "-i", path], control)
        #expect(outcome.status == 2 && control.calls.isEmpty)
        #expect(outcome.errors.contains("url is too long"), "\(outcome.errors)")
    }

    @Test func `the numbers of all that are kept can be asked for at once`() throws {
        #expect(Control1.TransferPage.mostAsked >= Device.mostTransfers)
        let call = Control1.TransferPage { $0.transfers = Array(1...20_000) }
        let read = try Control1.row(Control1.TransferPage.name)?.call(call.encoded.arguments)
        #expect(read == .transferPage(call))
    }
}
