import Testing

/// docs/porting.md against the app that it follows: what its steps make of the iOS project in
/// Tests/Fixtures/port/Tides is Examples/Tides.
struct PortingTests {
    private struct Block {
        /// What stands behind the fence: `diff AppDelegate.swift`.
        var label: String
        var lines: [String] = []
    }

    private let blocks: [Block]
    private let titles: [String]

    init() throws {
        let document = try #require(Tree.current.file("docs/porting.md"))
        var blocks: [Block] = []
        var isInside = false
        let lines = Self.lines(document.text)
        for line in lines {
            if line.hasPrefix("```") {
                isInside.toggle()
                if isInside { blocks.append(Block(label: String(line.dropFirst(3)))) }
            } else if isInside {
                blocks[blocks.count - 1].lines.append(line)
            }
        }
        self.blocks = blocks
        titles = lines.filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private func file(_ path: String) throws -> [String] {
        Self.lines(try #require(Tree.current.file(path), "\(path)").text)
    }

    /// Replaces the lines before a change by those after it; they must be there, once.
    private func apply(_ change: Block, to file: inout [String]) throws {
        let before = change.lines.filter { !$0.hasPrefix("+") }.map { String($0.dropFirst()) }
        let after = change.lines.filter { !$0.hasPrefix("-") }.map { String($0.dropFirst()) }
        let places = file.indices.filter { file[$0...].starts(with: before) }
        try #require(places.count == 1, "\(change.label) is at \(places): \(before)")
        file.replaceSubrange(places[0]..<places[0] + before.count, with: after)
    }

    @Test(arguments: ["AppDelegate.swift", "SceneDelegate.swift", "TideTable.swift"])
    func `the steps of the page turn a file of the iOS app into one of the example`(
        name: String
    ) throws {
        var source = try file("Tests/Fixtures/port/Tides/" + name)
        let changes = blocks.filter { $0.label == "diff " + name }
        #expect(changes.count >= 2)
        for change in changes { try apply(change, to: &source) }
        #expect(source == (try file("Examples/Tides/" + name)))
    }

    @Test func `what the page writes anew is in the example`() throws {
        for (label, name) in [
            ("swift TideTable+Download.swift", "TideTable+Download.swift"),
            ("ini tides.desktop", "tides.desktop"),
        ] {
            let block = try #require(blocks.first { $0.label == label })
            #expect(block.lines + [""] == (try file("Examples/Tides/" + name)))
        }
        let names = Tree.current.files.map(\.path).filter { $0.hasPrefix("Examples/Tides/") }
        #expect(names.count == 5, "and nothing else is: \(names)")
    }

    @Test func `its steps come in the order in which a porter meets them`() {
        let steps = titles.filter { $0.first?.isNumber == true }.map { title in
            String(title.drop { $0 != " " }.dropFirst())
        }
        #expect(
            steps == [
                "What must change", "The package and its language mode", "The imports",
                "The main entry", "Scenes", "Tasks", "Selectors and publishers",
                "Conditional compilation", "The state of the device", "The network",
                "The manifest", "Build and run", "Install",
            ]
        )
    }
}
