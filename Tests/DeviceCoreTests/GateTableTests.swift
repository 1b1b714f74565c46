import DeviceCore
import Linux
import Testing
import Vocabulary

/// The table gate × trigger against the one that was specified (`Tests/Fixtures/gates`).
struct GateTableTests {
    /// Where the code departs from it, and why. A row that is not specified begins with nothing.
    static let departures: [String: [String: String]] = [
        // The user's own pause is no gate of the specification, but a command of it.
        "paused": ["F": "●", "P": "●", "T": "●", "D": "●", "E": "●"],
        // The machine, and the daemon, cannot start anything.
        "processes": ["F": "●", "P": "●", "T": "", "D": "", "E": "●"],
        "stopping": ["F": "●", "P": "●", "T": "●", "D": "●", "E": "●"],
        // What flaps is damped by a gate of its own.
        "settling": ["F": "", "P": "●", "T": "", "D": "●", "E": ""],
        // What is asked for is what the request says that it requires.
        "data-protection": ["F": "ask", "P": "ask", "T": "ask", "D": "ask"],
        // That covers the time before the first unlock too.
        "before-first-unlock": ["T": "", "D": ""],
        // A transfer asks for it, by itself or for all its session.
        "metered": ["T": "ask"], "external-power": ["T": "ask", "D": "ask"],
        // Transfers have slots of their own, and wait after an interruption one by one.
        // A launch takes a slot whatever it is for.
        "run-slots": ["T": "", "E": "●"],
        "transfer-slots": ["F": "", "P": "", "T": "●", "D": "●", "E": ""],
        "retry": ["F": "", "P": "", "T": "●", "D": "●", "E": ""],
        // Each waits for its app by itself.
        "answer": ["F": "", "P": "", "T": "●", "D": "●", "E": ""],
        // Processing waits for an idle device instead. Events of a session come while the device is
        // awake: to wait would wake it once more.
        "better-moment": ["P": ""], "shared-wake": ["P": "", "D": "", "E": ""],
    ]

    /// The gate of each specified row, by how the row begins.
    static let gates = [
        ("app unknown", "unknown-app"), ("mode not declared", "not-permitted"),
        ("swiped away", "closed-by-user"), ("background refresh off", "refresh-off"),
        ("before first unlock", "before-first-unlock"), ("data protection", "data-protection"),
        ("low-power mode", "low-power"), ("earliest begin date", "earliest"),
        ("quiet period", "quiet"), ("no network", "network"), ("metered", "metered"),
        ("no external power", "external-power"), ("battery below", "battery"),
        ("device in use", "device-in-use"), ("app in the foreground", "app-in-foreground"),
        ("thermal", "thermal"), ("memory pressure", "memory"), ("storage full", "storage"),
        ("app not used", "unused"), ("quota of the app", "app-quota"),
        ("quota of the device", "device-quota"), ("back-off", "back-off"),
        ("run slots", "run-slots"), ("the same identifier", "still-running"),
        ("pause after boot", "start-pause"), ("waiting for a better moment", "better-moment"),
        ("coalescing", "shared-wake"),
    ]

    static func text(_ part: Substring) -> String {
        String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// The cells of each specified row by the letter of their column.
    static func specified() throws -> [String: [String: String]] {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let lines = try Files.text(
            root.joined(separator: "/") + "/Tests/Fixtures/gates/specified.md"
        )
        .split(separator: "\n").filter { $0.hasPrefix("|") }
        .map { $0.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map(text) }
        let header = try #require(lines.first)
        var cells: [String: [String: String]] = [:]
        for line in lines.dropFirst(2) {
            let gate = try #require(Self.gates.first { line[0].hasPrefix($0.0) }?.1, "\(line[0])")
            for (letter, cell) in zip(header, line).dropFirst() {
                cells[gate, default: [:]][letter] = cell
            }
        }
        return cells
    }

    @Test func `every cell is as specified`() throws {
        let specified = try Self.specified()
        #expect(specified.count == Self.gates.count)
        var cells = 0
        for row in Gate.report {
            let name = row.gate
            #expect(specified[name] != nil || Self.departures[name] != nil, "\(name)")
            for trigger in Trigger.allCases {
                let cell = row.cells[trigger.letter] ?? ""
                let wanted = specified[name]?[trigger.letter]
                let departure = Self.departures[name]?[trigger.letter]
                #expect(cell == departure ?? wanted, "\(name), \(trigger)")
                #expect(
                    departure == nil || departure != wanted,
                    "\(name), \(trigger): no departure"
                )
                cells += 1
            }
        }
        #expect(cells == Gate.allCases.count * Trigger.allCases.count)
    }

    @Test func `every gate has one row, with a title`() {
        #expect(Set(Gate.report.map(\.gate)).count == Gate.allCases.count)
        #expect(Gate.report.map(\.gate) == Gate.allCases.map(\.name))
        #expect(Gate.report.allSatisfy { !$0.title.isEmpty })
    }

    @Test func `a simulation is held only by what makes a launch impossible`() {
        let always = Gate.report.filter { $0.kind == "always" }.map(\.gate)
        #expect(
            always == [
                "unknown-app", "not-permitted", "storage", "run-slots", "processes", "stopping",
            ]
        )
    }

    @Test func `a setting that delays work says which transfers it delays`() throws {
        func holds(_ gate: String, _ trigger: Trigger) throws -> Bool {
            let row = try #require(Gate.report.first { $0.gate == gate })
            return row.cells[trigger.letter]?.isEmpty == false
        }
        func text(_ setting: String) throws -> String {
            try #require(SettingRow.table.first { $0.name == setting }).documentation
        }
        for gate in ["start-pause", "settling"] {
            #expect(try holds(gate, .discretionaryTransfer))
            #expect(try !holds(gate, .transfer))
        }
        for setting in ["pause-after-boot", "pause-after-resume", "pause-after-start"] {
            #expect(try text(setting).hasSuffix("except transfers that are not discretionary."))
        }
        #expect(try text("settle-time").contains("and discretionary transfers"))
    }

    @Test func `a user-initiated run skips what only saves`() {
        let saving = Gate.report.filter { $0.kind == "saving" }.map(\.gate)
        #expect(
            saving == [
                "low-power", "quiet", "battery", "device-in-use", "unused", "app-quota",
                "device-quota", "back-off", "start-pause", "settling", "better-moment",
                "shared-wake",
            ]
        )
    }
}
