import AppProtocol
import BuildIdentity
import CommandTable
import Commands
import DeviceCore
import GatewayShell
import TestKit
import Testing
import Vocabulary

/// The documents say what the tables in the code say. `make docs` writes them anew.
struct DocumentTests {
    @Test func theManualPagesAreTheTablesOfCommands() throws {
        try Document("docs/man/offstage.1").expect(OffstageProgram.table.manualPage + "\n")
        try Document("docs/man/offstage-gateway.1").expect(GatewayProgram.table.manualPage + "\n")
    }

    @Test func theManualPageOfTheDaemonHasItsOptions() throws {
        let help = try Command(Products.path(of: "offstaged"), "--help").run().output
        let lines = help.split(separator: "\n").filter { $0.hasPrefix("  -") }
        let words = lines.flatMap { $0.split { $0 == " " || $0 == "," } }
            .filter { $0.hasPrefix("--") }
        let page = try Document("docs/man/offstaged.1").contents.replacing("\\-", with: "-")
        #expect(words.count > 5)
        for word in words { #expect(page.contains("\\fB\(word)\\fR"), "\(word)") }
        #expect(page.contains("Offstage \(Version.number)"))
    }

    @Test(
        .enabled(if: Command.exists("man"), "man is not installed"),
        arguments: [
            "offstage.1", "offstaged.1", "offstage-gateway.1", "offstage-net.8", "offstage-wake.8",
        ]
    )
    func theManualPagesAreWellFormed(_ name: String) throws {
        let text = try Document("docs/man/" + name).contents
        let scratch = ScratchDirectory()
        let path = try scratch.write(name, text)
        var command = Command("man", "--warnings=w", "-E", "UTF-8", "-l", "-Tutf8", "-P", "cat")
        command.arguments.append(path)
        command.environment = Command.cleanEnvironment(["MANWIDTH": "80"])
        let outcome = try command.run()
        #expect(outcome.succeeded)
        #expect(outcome.errors == "")
        let least = name.hasSuffix(".8") ? 25 : 40
        #expect(outcome.output.split(separator: "\n").count > least)
    }

    @Test func settingsAndConditions() throws {
        let document = Document("docs/settings.md")
        var settings = MarkdownTable("setting", "default", "may be", "meaning")
        for row in Settings().report {
            settings.add(
                code(row.setting),
                row.default.isEmpty ? "" : code(row.default),
                String(row.choices.split(separator: ", such as", maxSplits: 1)[0]),
                row.documentation
            )
        }
        try document.expect(part: "settings", settings.text)
        var conditions = MarkdownTable("condition", "may be", "meaning", "none", "lost")
        for condition in Condition.allCases {
            let row = condition.row
            conditions.add(
                code(row.name),
                choices(row),
                row.documentation,
                row.word(row.harmless),
                row.word(row.cautious)
            )
        }
        try document.expect(part: "conditions", conditions.text)
        var profiles = MarkdownTable("profile", "sets")
        for (name, values) in SettingRow.profiles {
            let changes = values.map { code("\($0.setting)=\($0.value)") }
            profiles.add(
                code(name),
                changes.isEmpty ? "the defaults" : changes.joined(separator: ", ")
            )
        }
        try document.expect(part: "profiles", profiles.text)
    }

    @Test func gates() throws {
        let letters = Trigger.allCases.map(\.letter)
        var table = MarkdownTable(titles: ["gate", "holds"] + letters)
        for gate in Gate.report {
            table.add(
                [code(gate.gate), gate.title]
                    + letters.map { gate.cells[$0] ?? "" }
            )
        }
        let document = Document("docs/gates.md")
        try document.expect(part: "gates", table.text)
        var triggers = MarkdownTable("column", "trigger")
        for trigger in Trigger.allCases { triggers.add(trigger.letter, trigger.label) }
        try document.expect(part: "triggers", triggers.text)
    }

    @Test func keysOfTheManifest() throws {
        var table = MarkdownTable("key", "value", "default", "needs", "meaning")
        for key in ManifestKey.all {
            let modes = key.modes.map { code($0.rawValue) }.joined(separator: " or ")
            let companions = key.companions.map { code($0) }.joined(separator: " or ")
            table.add(
                code(key.name),
                key.type,
                key.defaultText,
                [modes, companions].filter { !$0.isEmpty }.joined(separator: ", "),
                key.documentation
            )
        }
        try Document("docs/manifest.md").expect(part: "keys", table.text)
    }

    @Test func theExampleOfAManifestIsGood() throws {
        let text = try Document("docs/manifest.md").contents
        let begin = try #require(text.firstRange(of: "```ini\n"))
        let end = try #require(text[begin.upperBound...].firstRange(of: "```"))
        let example = String(text[begin.upperBound..<end.lowerBound])
        let result = ManifestParser.parse(
            text: example,
            id: AppID("newsboat"),
            file: "newsboat.desktop",
            home: "/home/user"
        )
        guard case .app(let manifest, let warnings) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(warnings == [])
        #expect(manifest.refreshCommand == ["newsboat", "-x", "reload"])
    }

    @Test func modes() throws {
        var table = MarkdownTable("mode", "woken by", "time", "how often", "the app gets")
        for mode in BackgroundMode.allCases where mode.isServed {
            let text = mode.description
            let others = text.aliases.map { code($0) }.joined(separator: ", ")
            table.add(
                code(mode.rawValue) + (others.isEmpty ? "" : " (also \(others))"),
                text.trigger,
                text.grant,
                text.rate,
                text.appGets
            )
        }
        let later = BackgroundMode.allCases.filter { !$0.isServed }.map { code($0.rawValue) }
        try Document("docs/which-mode.md").expect(
            part: "modes",
            table.text + "\nAccepted in a manifest, without effect yet: "
                + later.joined(separator: ",\n") + ".\n"
        )
    }

    private func choices(_ row: ConditionRow) -> String {
        switch row.scale {
        case .percent: "0 to 100"
        case .names(let names): names.map(code).joined(separator: ", ")
        }
    }

    private func code(_ text: String) -> String { "`\(text)`" }
}
