import DeviceCore
import TestKit
import Testing
import Vocabulary

/// A condition that only the user sets is not called unknown.
struct LowDataOutputTests {
    private let terminal = TestTerminal()
    private let control: CoreControl

    init() { control = CoreControl(at: terminal.now) }

    /// The words of its row.
    private func row(of command: String) -> [Substring]? {
        terminal.run(command, control).output.split(separator: "\n").map {
            $0.split(separator: " ")
        }
        .first { $0.first == "low-data" }
    }

    @Test func `what is not set is off in the list, and no news in the status`() throws {
        #expect(try #require(row(of: "conditions")).prefix(3) == ["low-data", "off", "–"])
        let status = terminal.run("status", control).output
        #expect(status.contains("idle") && !status.contains("low-data"), "\(status)")
    }

    @Test func `what is set is shown as what else is known`() throws {
        control.send(.condition(.lowData, .hand, .value(1)))
        for command in ["conditions", "status"] {
            let words = try #require(row(of: command))
            #expect(words[1] == "on" && words.contains("hand"), "\(words)")
        }
    }
}
