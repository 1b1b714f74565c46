import CommandTable
import Commands
import DeviceCore
import TestKit
import Testing
import Vocabulary

/// Programs rely on the names of fields: each stands in docs/json.md.
struct JSONTests {
    /// The names in the first columns of the tables, by the title of their section.
    static func documented() throws -> [String: Set<String>] {
        var names: [String: Set<String>] = [:]
        var section = ""
        for line in try Document("docs/json.md").contents.split(separator: "\n") {
            if line.hasPrefix("## ") { section = String(line.dropFirst(3)) }
            guard line.hasPrefix("| `") else { continue }
            names[section, default: []].insert(String(line.dropFirst(3).prefix { $0 != "`" }))
        }
        return names
    }

    static func names(of command: String) throws -> Set<String> {
        let documented = try documented()
        let own = try #require(documented["offstage \(command)"], "\(command) is not in json.md")
        return own.union(documented["Shared"] ?? [])
    }

    /// Names of fields in printed JSON; what lies in `cells` is named by letters.
    static func fields(_ text: String) -> Set<String> {
        var fields: Set<String> = []
        for line in text.split(separator: "\n") {
            let entry = line.drop { $0 == " " }
            guard entry.first == "\"", let end = entry.firstRange(of: "\":") else { continue }
            let name = String(entry[..<end.lowerBound].dropFirst())
            if name.count > 1 { fields.insert(name) }
        }
        return fields
    }

    /// What lines of `offstage` print is documented, and is something.
    static func expect(_ line: String, _ output: String) throws {
        let command = String(line.prefix { $0 != " " })
        let fields = fields(output)
        #expect(!fields.isEmpty, "\(line): \(output)")
        let unknown = fields.subtracting(try names(of: command))
        #expect(unknown == [], "\(line) prints what docs/json.md does not have")
    }

    @Test func eachCommandWithJSONHasItsSection() throws {
        let sections = try Self.documented().keys.filter { $0.hasPrefix("offstage ") }
        let commands = OffstageProgram.table.commands.filter(\.printsData).map {
            "offstage \($0.name)"
        }
        #expect(Set(sections) == Set(commands))
    }

    /// One line, the last one, whatever was wrong.
    @Test(arguments: [
        ("status --jsn --json", 2), ("statsu --json", 2), ("run --json", 2),
        ("tasks nobody --json", 3),
        ("set battery full --json", 2), ("pause 0 --json", 2), ("--json submit -- true", 2),
    ])
    func anErrorIsAMap(line: String, status: Int64) throws {
        let terminal = TestTerminal()
        let outcome = terminal.run(line, CoreControl(at: terminal.now))
        let plain = terminal.run(line.replacing("--json", with: ""), CoreControl(at: terminal.now))
        #expect(outcome.output == "" && Int64(outcome.status) == status)
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 1)
        let error = try ValueJSON.parse(String(lines.last ?? ""))
        #expect(error["status"] == .integer(status))
        let text = [error["error"]?.stringValue, error["fix"]?.stringValue].compactMap(\.self)
        #expect(plain.errors == "offstage: " + text.joined(separator: "\n") + "\n")
        let fields = Set((error.mapValue?.entries ?? []).map(\.key))
        let documented = try Self.documented()["Errors"] ?? []
        #expect(fields.isSubset(of: documented))
    }

    @Test func whatBelongsToAnotherCommandAsksForNothing() {
        let terminal = TestTerminal()
        let behind = terminal.run("submit --bogus -- curl --json x", CoreControl(at: terminal.now))
        #expect(behind.errors.hasPrefix("offstage: there is no option \"--bogus\""), "\(behind)")
        let outcome = terminal.run("submit restic --json", CoreControl(at: terminal.now))
        #expect(outcome.errors.hasPrefix("offstage: submit: say either"))
    }

    @Test func whatADevicePrintsIsDocumented() throws {
        var printing = PrintingTests()
        let control = printing.control
        control.send(.user(.pause(.hours(2)), reply: ReplyToken(1)))
        let scratch = ScratchDirectory()
        let file = try scratch.write("x.desktop", "[Desktop Entry]\n[X-Offstage]\nNo=1\n")
        func check(_ lines: [String]) throws {
            for line in lines {
                try Self.expect(line, printing.terminal.run(line + " --json", control).output)
            }
        }
        let lines = [
            "status", "apps", "tasks", "explain backup", "explain newsboat", "conditions",
            "settings", "gates", "modes", "lint \(file)", "simulate --days 1 --apps 2 --seed 3",
        ]
        try check(lines)
        try check([
            "run newsboat", "cancel newsboat", "cancel 12 13", "open newsboat", "leave newsboat",
            "close newsboat", "pause", "pause 2h", "pause 12", "continue", "reload",
            "set battery 40", "set run-slots 3", "resume 12", "move --first 12",
            "simulate launch newsboat", "transfers --pause 12",
        ])
        printing.finishRefresh(status: 1)
        printing.terminal.now = control.now
        try check(["status", "apps", "explain newsboat", "history"])
        try check(["dismiss newsboat", "dismiss --all"])
    }
}
