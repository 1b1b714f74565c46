import TestKit
import Testing
import Vocabulary

struct ConfigurationTextTests {
    @Test func entriesAreReadWithTheirLines() {
        let text = ConfigurationText(
            """
            # Settings.
            minimum-refresh-interval = 10m
              battery-limit=20\t
            ; another comment
            notify =

            [ apps ]
            org.example.Reader = off # not a comment
            tab = a = b\r
            [other]
            minimum-refresh-interval = 5m
            """
        )
        #expect(text.diagnostics == [])
        #expect(text["minimum-refresh-interval"]?.value == "10m")
        #expect(text["minimum-refresh-interval"]?.line == 2)
        #expect(text["battery-limit"]?.value == "20")
        #expect(text["notify"]?.value == "")
        #expect(text["org.example.Reader", section: "apps"]?.value == "off # not a comment")
        #expect(text["tab", section: "apps"]?.value == "a = b")
        #expect(text["minimum-refresh-interval", section: "other"]?.line == 11)
        #expect(text["minimum-refresh-interval", section: "apps"] == nil)
        #expect(text.entries.map(\.line) == [2, 3, 5, 8, 9, 11])
    }

    @Test(arguments: [
        (
            "nonsense",
            "line 1: \"nonsense\" is neither NAME = VALUE nor a [section]. Write a # before "
                + "a comment, at the start of its line."
        ),
        (
            "a = 1\na = 2",
            "line 2: a: is here for the second time, after line 1. Remove one of the two."
        ),
        (
            "[a",
            "line 1: \"[a\" is not a section. Write a name between [ and ], and nothing after it."
        ),
        (
            "[]",
            "line 1: \"[]\" is not a section. Write a name between [ and ], and nothing after it."
        ),
        ("= 1", "line 1: \"\" is not a name. Names have letters, digits, - _ and . only."),
        ("a b = 1", "line 1: \"a b\" is not a name. Names have letters, digits, - _ and . only."),
        ("a = \u{1}", "line 1: a: has a control character. Remove it."),
    ])
    func whatIsWrongIsNamed(text: String, message: String) {
        #expect(ConfigurationText(text).diagnostics.map(\.description) == [message])
    }

    /// What stands in the file, what is set, and what stands there then; `|` ends a line.
    @Test(arguments: [
        ("", "", "a = 1|"),
        ("a = 5|", "", "a = 1|"),
        ("a=5", "", "a=1"),
        ("  a  =  5  |b = 2", "", "  a  =  1  |b = 2"),
        ("a =|b = 2|", "", "a = 1|b = 2|"),
        ("# a = 3|a = 5\r|b = 2\r|", "", "# a = 3|a = 1\r|b = 2\r|"),
        ("b = 2", "", "b = 2|a = 1|"),
        ("b = 2\r|", "", "b = 2\r|a = 1\r|"),
        ("b = 2|# end||", "", "b = 2|# end|a = 1||"),
        ("[s]|a = 5|", "", "a = 1||[s]|a = 5|"),
        ("# About s|[s]|a = 5|", "", "a = 1||# About s|[s]|a = 5|"),
        ("b = 2||# About s|[s]|", "", "b = 2|a = 1||# About s|[s]|"),
        ("b = 2|# About s|[s]|", "", "b = 2|a = 1||# About s|[s]|"),
        ("a = 5|", "s", "a = 5||[s]|a = 1|"),
        ("a = 5|||", "s", "a = 5||[s]|a = 1|"),
        ("", "s", "[s]|a = 1|"),
        ("[s]|b = 2||[t]|a = 3|", "s", "[s]|b = 2|a = 1||[t]|a = 3|"),
        ("[s]|[t]|a = 3|[s]|b = 2|", "s", "[s]|[t]|a = 3|[s]|b = 2|a = 1|"),
        ("[ s ]|a = 7|", "s", "[ s ]|a = 1|"),
        ("[s]|b = 2||[s]|c = 3||[t]|", "s", "[s]|b = 2||[s]|c = 3|a = 1||[t]|"),
    ])
    func settingChangesOneLine(before: String, section: String, after: String) throws {
        var text = ConfigurationText(before.lines)
        try text.set("a", section: section, to: "1")
        #expect(text.text == after.lines)
        #expect(text["a", section: section]?.value == "1")
        #expect(text == ConfigurationText(after.lines))
    }

    @Test func whatWouldNotBeReadBackIsNotWritten() {
        var text = ConfigurationText("a = 5")
        for (name, section, value) in [
            ("a b", "", "1"), ("", "", "1"), ("a", "x]y", "1"), ("a", " x", "1"),
            ("a", "", "1\n[b]"), ("a", "", "\0"), ("é", "", "1"),
            ("a", "", String(repeating: "x", count: ConfigurationText.limit)),
        ] {
            #expect(throws: Diagnostic.self) { try text.set(name, section: section, to: value) }
        }
        #expect(text.text == "a = 5")
    }

    @Test func removingTakesTheLineOut() throws {
        var text = ConfigurationText("a = 5\n# b\nb = 2\n")
        try text.remove("b")
        try text.remove("c")
        #expect(text.text == "a = 5\n# b\n")
    }

    @Test(arguments: [
        ("a = 1||[s]||", "a = 1|"), ("[s]|# t's|[t]|b = 2|", "# t's|[t]|b = 2|"),
        ("[s]|# kept|", nil), ("[s]|b = 2|", nil), ("[s]||[t]|[s]|# kept|", nil), ("a = 1|", nil),
    ])
    func onlyASectionInWhichNothingStandsIsTakenOut(before: String, after: String?) throws {
        var text = ConfigurationText(before.lines)
        try text.removeEmptySection("s")
        #expect(text.text == (after ?? before).lines)
    }

    @Test func aFileThatWasNotReadIsNotWritten() {
        let large = String(repeating: "# comment\n", count: 7000)
        for var text in [
            ConfigurationText(large), ConfigurationText(bytes: Array(large.utf8)),
            ConfigurationText(bytes: [0x61, 0x0A, 0xFF]),
        ] {
            #expect(text.diagnostics.count == 1)
            #expect(throws: Diagnostic.self) { try text.set("a", to: "1") }
            #expect(throws: Diagnostic.self) { try text.remove("a") }
        }
        let notText = ConfigurationText(bytes: [0x61, 0x0A, 0xFF])
        #expect(
            notText.diagnostics[0].description == "line 2: is not UTF-8. Save the file as UTF-8."
        )
        #expect(ConfigurationText(bytes: Array("a = é".utf8))["a"]?.value == "é")
    }

    @Test(arguments: UInt64(0)..<32)
    func settingOneNameLeavesTheOthersAlone(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pieces = [
            "a = 1", "b=2", "c =", "# x", ";", "", "  ", "[s]", "[ t ]", "[", "x", "= y", "d = \r",
            "a = é", "e\u{301} = 1", "[s]\r",
        ]
        for _ in 0..<100 {
            let lines = (0..<random.below(12)).map { _ in random.pick(from: pieces) ?? "" }
            let before = ConfigurationText(lines.joined(separator: "\n"))
            let name = random.pick(from: ["a", "b", "new"]) ?? "a"
            let section = random.pick(from: ["", "s", "u"]) ?? ""
            var after = before
            try after.set(name, section: section, to: "value of mine")
            #expect(after[name, section: section]?.value == "value of mine")
            let others = { (text: ConfigurationText) in
                text.entries.filter { $0.name != name || $0.section != section }
                    .map { [$0.section, $0.name, $0.value] }
            }
            #expect(others(after) == others(before))
            #expect(after.diagnostics.count == before.diagnostics.count, "\(before.text)")
            #expect(ConfigurationText(after.text) == after)
        }
    }
}

extension String {
    /// With `|` as the ends of lines.
    fileprivate var lines: String {
        String(map { $0 == "|" ? "\n" : $0 })
    }
}
