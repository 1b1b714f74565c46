import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Each change of what is stored comes with a version and its step.
struct StoredShapeTests {
    private static func path(_ version: Int64) -> String {
        "\(StateFixture.root)/shapes/\(version).txt"
    }

    @Test func `what is stored has the form that is kept for the version of the store`() throws {
        let version = StoreMigrations.newest
        let shape = try StoredShape.ofStore()
        let path = Self.path(version)
        if CurrentProcess.environment("OFFSTAGE_WRITE_DOCUMENTS") == "1", !Files.exists(path) {
            try Files.replace(path, with: shape.text, permissions: 0o644)
        }
        let kept = try Files.text(path).split(separator: "\n").map(String.init)
        let more = shape.lines.filter { !kept.contains($0) }
        let less = kept.filter { !shape.lines.contains($0) }
        #expect(
            more.isEmpty && less.isEmpty,
            """
            what is stored has another form than version \(version) of the store:
            \((less.map { "- " + $0 } + more.map { "+ " + $0 }).joined(separator: "\n"))
            Give it the next version, with a step in StoreMigrations (ARCHITECTURE.md says how).
            """
        )
    }

    @Test func `each version has its form, and each older one a directory`() {
        for version in 1...StoreMigrations.newest { #expect(Files.exists(Self.path(version))) }
        for version in 1..<StoreMigrations.newest {
            #expect(StateFixture.all.contains { $0.version == version })
        }
        for fixture in StateFixture.all { #expect(Files.exists(fixture.directory)) }
    }

    // MARK: The form itself

    private struct Sample: Codable {
        enum Colour: String, Codable { case red, green }
        enum One: String, Codable { case only }
        enum Step: Int, Codable { case first = 3, second }
        enum Answer: Codable {
            case none
            case some(Int64, words: [String]?)
            case other(Colour)
        }
        var number: UInt8
        var count: Int64?
        var perhaps: Double?
        var colour: Colour
        var one: One?
        var step: Step
        var answers: [Answer]
        var nested: Shared<Inner>
        struct Inner: Hashable, Sendable, Codable {
            var id: AppID
            var since: BootTime?
            var isSet: Bool
        }
    }

    @Test func `fields, absence, words and cases are all seen`() throws {
        #expect(
            try StoredShape(["it": Sample.self]).lines == [
                "it.answers[]|none: nothing",
                "it.answers[]|other._0: green red",
                "it.answers[]|some._0: Int64",
                "it.answers[]|some.words?[]: String",
                "it.colour: green red",
                "it.count?: Int64",
                "it.nested.id: String",
                "it.nested.isSet: Bool",
                "it.nested.since?: Int64",
                "it.number: UInt8",
                "it.one?: only",
                "it.perhaps?: Double",
                "it.step: 3 4",
            ]
        )
    }
}
