import DeviceCore
import Testing
import Vocabulary

/// The table gate × trigger, cell by cell as it is specified, so that no change of it goes unseen.
struct GateTableTests {
    /// A row per gate; columns: Fetch or refresh, Processing.
    static let specified = """
        unknown-app         | ● | ●
        not-permitted       | ● | ●
        closed-by-user      | ● | ●
        refresh-off         | ● | ●
        paused              | ● | ●
        before-first-unlock | ● | ●
        data-protection     | ask | ask
        low-power           | ● | ●
        earliest            | ● | ●
        quiet               | fetch, command | command
        network             | need | ask
        metered             | set, ask | ask
        external-power      |  | ask
        battery             | ● | ●
        device-in-use       |  | ●
        app-in-foreground   | ● |
        thermal             | ● | ●
        memory              | ● | ●
        storage             | ● | ●
        unused              | ● | ●
        app-quota           | ● | ●
        device-quota        | ● | ●
        back-off            | ● | ●
        still-running       | ● | ●
        start-pause         | ● | ●
        better-moment       | ● |
        shared-wake         | ● |
        run-slots           | ● | ●
        processes           | ● | ●
        stopping            | ● | ●
        """

    static func cells(of row: Value) -> [String] {
        Trigger.allCases.map { row["cells"]?[$0.letter]?.stringValue ?? "" }
    }

    @Test func `every cell is as specified`() {
        var expected: [String: [String]] = [:]
        var order: [String] = []
        for line in Self.specified.split(separator: "\n") {
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map {
                String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
            expected[parts[0]] = Array(parts.dropFirst())
            order.append(parts[0])
        }
        #expect(Gate.report.map { $0["gate"]?.stringValue ?? "" } == order)
        for row in Gate.report {
            let name = row["gate"]?.stringValue ?? ""
            #expect(Self.cells(of: row) == expected[name], "\(name)")
        }
    }

    @Test func `every gate has one row, with a title`() {
        #expect(
            Set(Gate.report.compactMap { $0["gate"]?.stringValue }).count == Gate.allCases.count
        )
        #expect(Gate.report.map { $0["gate"]?.stringValue } == Gate.allCases.map(\.name))
        #expect(Gate.report.allSatisfy { $0["title"]?.stringValue?.isEmpty == false })
    }

    @Test func `a simulation is held only by what makes a launch impossible`() {
        let always = Gate.report.filter { $0["kind"] == "always" }.compactMap {
            $0["gate"]?.stringValue
        }
        #expect(
            always == [
                "unknown-app", "not-permitted", "storage", "run-slots", "processes", "stopping",
            ]
        )
    }

    @Test func `a user-initiated run skips what only saves`() {
        let saving = Gate.report.filter { $0["kind"] == "saving" }.compactMap {
            $0["gate"]?.stringValue
        }
        #expect(
            saving == [
                "low-power", "quiet", "battery", "device-in-use", "unused", "app-quota",
                "device-quota", "back-off", "start-pause", "better-moment", "shared-wake",
            ]
        )
    }
}
