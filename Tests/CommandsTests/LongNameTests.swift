import CommandTable
import DeviceCore
import Testing
import Vocabulary

/// One file with a long name, and another one: the table stays one.
struct LongNameTests {
    private let name = String(repeating: "a", count: 240) + ".tar.gz"

    private func lines(width: Int?) -> [String] {
        let terminal = TestTerminal(width: width)
        let control = CoreControl(at: terminal.now)
        control.send(.condition(.network, .hand, .value(0)))
        let orders = [name, "b"].map { (name: String) in
            TransferOrder(url: "https://example.org/\(name)", directory: "/tmp", name: name)
        }
        control.send(.user(.transfer(.enqueue(orders, token: nil)), reply: ReplyToken(1)))
        let output = terminal.run("transfers", control).output
        return output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [80, 100, 200])
    func `a terminal is not too narrow for it`(width: Int) {
        let lines = lines(width: width)
        #expect(lines.allSatisfy { $0.columns <= width }, "\(lines)")
        #expect(lines.contains { $0.contains("aaa…  waiting") }, "\(lines)")
    }

    @Test func `a file has all of it, and its other rows are not longer for it`() throws {
        let lines = lines(width: nil)
        try #require(lines.count == 3)
        #expect(lines[1].contains("  \(name)  waiting"), "\(lines)")
        #expect(lines[0].columns < 120 && lines[2].columns < 200, "\(lines)")
    }
}
