import Testing

struct RuleTests {
    @Test(arguments: Rule.all)
    func theTreeKeeps(_ rule: Rule) {
        let findings = Tree.current.files.filter(rule.applies).flatMap(rule.check)
        for finding in findings { Issue.record("\(finding)") }
    }

    @Test(arguments: Rule.all)
    func samplesShowThatItCanFail(_ rule: Rule) {
        for sample in rule.bad {
            let file = TextFile(path: sample.path, text: sample.text)
            #expect(rule.applies(file), "\(sample.path)")
            #expect(rule.check(file).map(\.line) == [sample.line], "\(sample.text)")
        }
        for sample in rule.good {
            let file = TextFile(path: sample.path, text: sample.text)
            #expect(rule.check(file) == [], "\(sample.text)")
        }
        #expect(!rule.bad.isEmpty)
    }

    @Test func eachRuleLooksAtSomething() {
        for rule in Rule.all {
            #expect(Tree.current.files.contains(where: rule.applies), "\(rule)")
        }
    }
}

struct LexerTests {
    /// Text, its code and its comments, the latter two without spaces and line ends.
    @Test(arguments: [
        ("a // b \" c", "a", "//b\"c"),
        ("\"a // b\" /* c */", "\"\"", "/*c*/"),
        ("/* a /* b */ c */ d", "d", "/*a/*b*/c*/"),
        ("\"a \\\" b\" c", "\"\"c", ""),
        ("\"a\\(b + \"c\" + (d)) e\" f", "\"\\(b+\"\"+(d))\"f", ""),
        ("#\"a \" \\(b \\#(c)\"# d", "#\"\\#(c)\"#d", ""),
        ("\"\"\"\n a \"b\" // c\n\"\"\" d", "\"\"\"\"\"\"d", ""),
    ])
    func codeAndCommentsAreToldApart(_ text: String, _ code: String, _ comments: String) {
        let parts = Lexer.split(text, language: .swift)
        for (part, expected) in [(parts.code, code), (parts.comments, comments)] {
            #expect(part.count == text.utf8.count)
            #expect(String(decoding: part, as: UTF8.self).filter { !$0.isWhitespace } == expected)
        }
    }

    @Test func aCharacterOfCIsALiteral() {
        let parts = Lexer.split("a = '\"'; // b", language: .other)
        #expect(String(decoding: parts.code, as: UTF8.self) == "a = ' ';     ")
    }
}
