import BuildIdentity
import Linux
import TestKit
import Testing

/// Builds are told apart by the source of what decides.
struct VersionTests {
    /// Of the repository that this test was built from.
    static let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    private func identity(of tree: String) throws -> String {
        let outcome = try Command(tree + "/scripts/core-identity").run()
        #expect(outcome.succeeded, "\(outcome.errors)")
        return String(outcome.output.dropLast())
    }

    @Test func aBuildHasTheIdentityOfItsSource() throws {
        let identity = try identity(of: Self.root)
        #expect(identity.count == 16)
        #expect(Version.build == "offstage \(Version.number) (core \(identity))")
    }

    @Test func anotherSourceIsAnotherBuild() throws {
        let scratch = ScratchDirectory()
        for name in ["scripts/core-identity", "Sources/DeviceCore", "Sources/Vocabulary"] {
            let folder = Files.directory(of: scratch(name))
            try Files.makeDirectory(folder, parents: true)
            #expect(try Command("cp", "-r", Self.root + "/" + name, folder).run().succeeded)
        }
        let before = try identity(of: scratch.path)
        #expect(try before == identity(of: Self.root))
        let gate = scratch("Sources/DeviceCore/Scheduling/Gates/Paused.swift")
        try FileDescriptor(opening: gate, [.writing, .append]).writeAll("\n")
        #expect(try identity(of: scratch.path) != before)
        try Files.rename(gate, to: scratch("Sources/DeviceCore/Paused.swift"))
        let moved = try identity(of: scratch.path)
        #expect(moved != before)
    }
}
