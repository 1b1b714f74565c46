import AppProtocol
import CommandTable
import Commands
import DeviceCore
import Testing
import Vocabulary

/// Commands that take what they are about by name or number, and several of them.
struct NamedTests {
    private let terminal = TestTerminal()

    // MARK: Transfers by their numbers

    private func transfers() -> (control: CoreControl, ids: [TransferID]) {
        let control = CoreControl(at: terminal.now)
        control.send(.condition(.network, .hand, .value(0)))
        let orders = ["a", "b"].map { (name: String) in
            TransferOrder(url: "https://example.org/\(name)", directory: "/tmp", name: name)
        }
        control.send(.user(.transfer(.enqueue(orders, token: nil)), reply: ReplyToken(1)))
        guard case .transfers(let ids) = control.answer else {
            Issue.record("they were not taken")
            return (control, [])
        }
        return (control, ids)
    }

    @Test func `a transfer is explained as it is listed, with the gates that hold it`() throws {
        let (control, ids) = transfers()
        let listed = control.device.transferList(at: control.now)
        try #require(listed.count == 2 && listed.allSatisfy { !$0.holds.isEmpty })
        let one = terminal.run("explain \(ids[1])", control)
        #expect(one.status == 0)
        #expect(one.output.hasPrefix(listed[1].sentence + "\n\n  GATE"), "\(one.output)")
        for hold in listed[1].holds {
            #expect(one.output.contains("\n  " + hold.gate), "\(one.output)")
            #expect(one.output.contains(hold.needed), "\(one.output)")
        }
        #expect(!one.output.contains(listed[0].sentence))
        let both = terminal.run("explain \(ids[0]) \(ids[1])", control).output
        for transfer in listed { #expect(both.contains(transfer.sentence), "\(both)") }
        let json = terminal.run("explain --json \(ids[1])", control).output
        try JSONTests.expect("explain", json)
        let told = try #require(try ValueJSON.parse(json).listValue)
        #expect(told.count == 1 && told[0]["sentence"] == .string(listed[1].sentence))
        #expect(told[0]["task"] == "https://example.org/b" && told[0]["state"] == "waiting")
        #expect(told[0]["holds"]?.listValue?.count == listed[1].holds.count)
        #expect(terminal.run("explain \(ids[0]) 99", control).status == 3)
    }

    // MARK: Apps

    /// Refuses each app but these.
    private final class Dismissing: Control {
        private let failing: Set<String>
        private(set) var asked: [Value] = []

        init(_ failing: Set<String>) { self.failing = failing }

        func send(_ call: EncodedCall) throws(Failure) -> [Value] {
            asked.append(call.arguments[0])
            guard let name = call.arguments[0].stringValue, name.isEmpty || failing.contains(name)
            else {
                let name = call.arguments[0].stringValue ?? ""
                throw Failure(.notFound, "there is no failure to dismiss: \(name)", fix: "Look.")
            }
            return call.plainReply
        }
    }

    @Test func `several apps are dismissed at once`() throws {
        let control = Dismissing(["a", "b"])
        let outcome = terminal.run("dismiss a b", control)
        #expect(outcome == Outcome(status: 0, output: "", errors: ""))
        #expect(control.asked == ["a", "b"])
        let json = terminal.run("dismiss a b --json", control).output
        #expect(try ValueJSON.parse(json) == ["apps": ["a", "b"]])
        try JSONTests.expect("dismiss", json)
        let one = terminal.run("dismiss a --json", control).output
        #expect(try ValueJSON.parse(one) == ["apps": ["a"], "app": "a"])
        #expect(terminal.run("dismiss --all", control).status == 0)
        #expect(control.asked.last == "")
    }

    @Test func `a wrong name keeps no other from being dismissed, and is said`() {
        let control = Dismissing(["b"])
        let outcome = terminal.run("dismiss a b c", control)
        #expect(control.asked == ["a", "b", "c"])
        #expect(outcome.status == 3 && outcome.output == "")
        for name in ["a", "c"] {
            let words = "there is no failure to dismiss: \(name)"
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    /// A variable of a shell that is not set means no app, and not all of them.
    @Test(arguments: [[], [""], ["a", ""], ["", "--all"], ["a", "--all"]])
    func `an empty name dismisses nothing`(words: [String]) {
        let control = Dismissing(["a"])
        #expect(terminal.run(["dismiss"] + words, control).status == 2)
        #expect(control.asked.isEmpty)
    }
}
