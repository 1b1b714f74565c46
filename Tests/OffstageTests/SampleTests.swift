import Foundation
import Testing

/// The samples are those that every part of the project is held to, word for word.
struct SampleTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let originals = root.deletingLastPathComponent()
        .appendingPathComponent("shared/samples")

    private static func names(in folder: URL) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (names ?? []).filter { $0.hasSuffix(".swift") }.sorted()
    }

    /// Nothing is claimed that is not built: each sample has a target, or the page about the
    /// examples says what it waits for.
    @Test func theSamplesThatAreNotBuiltAreNamedSo() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        }
        let package = try text("Package.swift")
        let page = try text("Examples/README.md")
        let parts = page.components(separatedBy: "so they are not built:")
        try #require(parts.count == 2)
        let names = Self.names(in: Self.root.appendingPathComponent("Examples/Samples"))
        #expect(names.count == 7)
        for name in names {
            let target = name.replacingOccurrences(of: ".swift", with: "")
            let isBuilt = package.contains("sample(\"\(target)\")")
            #expect(parts[0].contains("`\(target)`") == isBuilt, "\(target)")
            #expect(parts[1].contains("`\(name)`") != isBuilt, "\(target)")
        }
        let built = names.count { parts[0].contains("`\($0.dropLast(6))`") }
        let number = ["no", "one", "two", "three", "four", "five", "six", "all"][built]
        #expect(parts[0].contains("`swift build`\nbuilds \(number) of them: "))
        #expect(names.count - built == 4 && page.contains("\nFour use what it does not have yet"))
        // The front page claims so many, in one place, and names none that is not built.
        let readme = try text("README.md").split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(readme.contains("built and tested: "))
        #expect(readme.contains(", and \(number) apps of Apple's talks."))
        #expect(readme.components(separatedBy: "Apple's talks").count == 2)
        for name in names where !parts[0].contains("`\(name.dropLast(6))`") {
            #expect(!readme.contains(name.dropLast(6)), "\(name)")
        }
    }

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: originals.path),
            "the originals are not here"
        )
    )
    func theCopiesAreTheOriginals() throws {
        let copies = Self.root.appendingPathComponent("Examples/Samples")
        let names = Self.names(in: Self.originals)
        #expect(!names.isEmpty)
        #expect(Self.names(in: copies) == names)
        for name in names {
            let original = try Data(contentsOf: Self.originals.appendingPathComponent(name))
            let copy = try Data(contentsOf: copies.appendingPathComponent(name))
            #expect(original == copy, "\(name)")
        }
    }
}
