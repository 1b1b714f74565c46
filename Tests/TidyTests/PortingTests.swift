import Testing

/// docs/porting.md against the app that it makes: Examples/Tides.
struct PortingTests {
    private let page: [(section: String, language: String, lines: [String])]
    private let delegate: [String]

    init() throws {
        let document = try #require(Tree.current.file("docs/porting.md"))
        page = Self.blocks(of: document.text)
        delegate = try Self.lines(of: "AppDelegate.swift")
    }

    private static func lines(of name: String) throws -> [String] {
        lines(try #require(Tree.current.file("Examples/Tides/" + name)).text)
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map(String.init).filter { $0.contains { $0 != " " } }
    }

    /// The fenced blocks of a page, without their empty lines, and the title above each.
    private static func blocks(
        of text: String
    ) -> [(section: String, language: String, lines: [String])] {
        var blocks: [(section: String, language: String, lines: [String])] = []
        var section = ""
        var isInside = false
        for line in lines(text) {
            if line.hasPrefix("```") {
                isInside.toggle()
                if isInside { blocks.append((section, String(line.dropFirst(3)), [])) }
            } else if isInside {
                blocks[blocks.count - 1].lines.append(line)
            } else if line.hasPrefix("## ") {
                section = String(line.dropFirst(3))
            }
        }
        return blocks
    }

    /// What stands below the title of a step.
    private func blocks(_ step: String) throws -> [[String]] {
        let found = page.filter { $0.section.hasPrefix(step) }.map(\.lines)
        try #require(!found.isEmpty, "nothing is shown in \(step)")
        return found
    }

    private func contains(_ file: [String], _ part: [String]) -> Bool {
        let (file, part) = (file.map(Self.trimmed), part.map(Self.trimmed))
        return file.indices.contains { file[$0...].starts(with: part) }
    }

    private static func trimmed(_ line: String) -> String {
        String(line.drop { $0 == " " })
    }

    @Test func whatThePageWritesStandsInTheExample() throws {
        let files = [
            delegate, try Self.lines(of: "TideTable+Download.swift"),
            try Self.lines(of: "tides.desktop"),
        ]
        for step in ["3. ", "4. ", "5. "] {
            for block in try blocks(step) {
                #expect(
                    files.contains { contains($0, block) },
                    "\(step): not in Examples/Tides: \(block)"
                )
            }
        }
        // Whole files, but for the one that step 1 shows.
        #expect(try blocks("4. ").first == files[1])
        #expect(try blocks("5. ").first == files[2])
    }

    @Test func theStepsTurnTheAppIntoTheExample() throws {
        var app = try #require(try blocks("1. ").first)
        #expect((50...80).contains(app.count), "a small app: \(app.count) lines")
        // Step 3: one import for all.
        #expect(app.contains("import UIKit") && app.contains("import BackgroundTasks"))
        app.removeAll { $0.hasPrefix("import ") }
        app = try #require(try blocks("3. ").first) + app
        // Step 4: the network is called in a file of its own.
        let download = try #require(try blocks("4. ").last)
        let place = try #require(app.firstIndex { $0.contains("URL(string:") })
        #expect(app[place + 1].contains("URLSession"))
        let indentation = String(app[place].prefix { $0 == " " })
        app.replaceSubrange(place...place + 1, with: download.map { indentation + $0 })
        #expect(app == delegate)
    }

    @Test func theManifestInTheTableIsTheExamples() throws {
        let document = try #require(Tree.current.file("docs/porting.md")).text
        let manifest = try Self.lines(of: "tides.desktop")
        let rows = Self.lines(document).filter { $0.hasPrefix("| `") }
        #expect(rows.count >= 4)
        for row in rows {
            let cell = try #require(row.split(separator: "|").last { $0.contains("`") })
            let key = cell.split(separator: "`").dropFirst().first.map(String.init)
            #expect(manifest.contains(try #require(key)), "\(row)")
        }
    }
}
