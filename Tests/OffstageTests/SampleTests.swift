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
