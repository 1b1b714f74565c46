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
}
