import Linux
import PortCore
import TestKit
import Testing
import Vocabulary

/// The projects in Tests/Fixtures/port: what is planted is found, and nothing else.
struct FixtureTests {
    static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(3).joined(separator: "/")
    static let folder = root + "/Tests/Fixtures/port/"

    /// The project as the program reads it, without the program.
    static func project(_ name: String) throws -> PortedProject {
        var project = PortedProject(served: [.fetch, .processing])
        func visit(_ path: String) throws {
            for name in try Files.list(folder + path) {
                let file = path + "/" + name
                let isDirectory = Files.status(folder + file)?.kind == .directory
                switch ProjectEntry(name, isDirectory: isDirectory) {
                case .folder: try visit(file)
                case .source: project.addSource(try Files.read(folder + file), file: file)
                case .infoPlist:
                    project.addPropertyList(
                        try Files.read(folder + file),
                        file: file,
                        folder: "Headlines"
                    )
                case .xcodeProject, .other, .skipped: break
                }
            }
        }
        try visit(name)
        return project
    }

    /// `FILE:LINE NAME`, for each name that a marker in the sources has.
    private static func planted(in name: String) throws -> Set<String> {
        var planted: Set<String> = []
        for file in Files.matching(folder + name + "/*/*.swift")
            + Files.matching(folder + name + "/*.swift") where !file.contains("/Pods/")
        {
            let path = file.dropFirst(folder.count)
            let text = try Files.text(file)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (number, line) in lines.enumerated() {
                guard let start = line.firstRange(of: "// expect")?.upperBound else { continue }
                let marker = line[start...]
                let colon = try #require(marker.firstIndex(of: ":"))
                let offset =
                    switch marker[..<colon] {
                    case "": 0
                    case "^": -1
                    case "+": 1
                    default: try #require(Int(marker[..<colon]))
                    }
                for name in marker[colon...].dropFirst(2).split(separator: " | ") {
                    planted.insert("\(path):\(number + 1 + offset) \(name)")
                }
            }
        }
        return planted
    }

    private static func name(_ finding: Finding) -> String {
        switch finding.matter {
        case .symbol(let place): SymbolTable.rows[place].name
        case .vanishing(let vanishing): vanishing.mustChange ? "vanishes" : "fallback"
        }
    }

    @Test(arguments: [("Headlines", 80), ("Ported", 6)])
    func `every planted case is found, and nothing else`(name: String, least: Int) throws {
        let planted = try Self.planted(in: name)
        let places = try Self.project(name).places
        let found = places.map { "\($0.file):\($0.finding.line) \(Self.name($0.finding))" }
        #expect(planted.count >= least)
        #expect(found.count == Set(found).count, "each once")
        let missed = planted.subtracting(found).sorted()
        let invented = Set(found).subtracting(planted).sorted()
        #expect(missed == [], "not found")
        #expect(invented == [], "not planted")
    }

    @Test func `a project without anything to change is ported`() throws {
        #expect(try Self.project("Ported").isPorted)
        #expect(try !Self.project("Headlines").isPorted)
    }

    @Test func `its Info_plist becomes a manifest`() throws {
        let manifest = try #require(try Self.project("Headlines").manifests.first).manifest
        #expect(
            manifest.text == """
                [Desktop Entry]
                Type=Application
                Name=Headlines & More
                Exec=headlines-more
                NoDisplay=true

                [X-Offstage]
                BackgroundModes=fetch;processing;remote-notification;
                PermittedTaskIdentifiers=com.example.headlines.refresh;com.example.headlines.index;

                """
        )
        let notes = manifest.notes.map { "\($0.line ?? 0) \($0.value) \($0.state.rawValue)" }
        #expect(
            notes == [
                "44 remote-notification not-yet", "45 nearby-interaction never",
                "9 $(TEAM).sync differs", "26 headlines differs", "27 feed differs",
            ]
        )
        let scheme = try #require(manifest.notes.last)
        #expect(scheme.replacement.hasSuffix("MimeType=x-scheme-handler/feed;"))
        #expect(!scheme.mustChange, "the app opens them without it")
    }
}
