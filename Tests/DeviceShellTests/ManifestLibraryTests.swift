import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What is made of the files in several directories, the user's own first.
struct ManifestLibraryTests {
    private static let entry =
        "[Desktop Entry]\nType=Application\nName=Reader\nExec=true\n"
        + "[X-Offstage]\nBackgroundModes=fetch;\n"
    private let scratch = ScratchDirectory()
    private let files: DesktopFiles

    init() throws {
        for name in ["own", "site", "system"] { try Files.makeDirectory(scratch(name)) }
        files = DesktopFiles(directories: ["own", "site", "system"].map(scratch.callAsFunction))
    }

    private var library: ManifestLibrary {
        ManifestLibrary(directories: files.directories, home: scratch.path)
    }

    private func link(_ name: String, to target: String) throws {
        try? Files.remove(scratch(name))
        #expect(try Command("ln", "-s", target, scratch(name)).run().succeeded)
    }

    /// The file that is used as `reader`; nil: none.
    private func used(_ changes: [ManifestChange]) -> String? {
        for case .present(let manifest) in changes where manifest.id == AppID("reader") {
            return manifest.file
        }
        return nil
    }

    @Test func `what cannot be read and is not the user's own makes room for what comes later`()
        throws
    {
        try link("site/reader.desktop", to: "nowhere")
        let good = try scratch.write("system/reader.desktop", Self.entry)
        var library = library
        #expect(used(library.scan()) == good)
        let says = "\(scratch("site/reader.desktop")): it is a link to nowhere, which is not there"
        #expect(library.passedOver == [says])
        #expect(library.scan().isEmpty, "nothing has changed")
        #expect(library.passedOver == [says])
        // In the user's own directory it is a slip, which they are told.
        try link("own/reader.desktop", to: "nowhere")
        guard case .invalid(_, let file, let reason)? = library.scan().first else {
            Issue.record("it is passed over")
            return
        }
        #expect(file == scratch("own/reader.desktop"))
        #expect(reason == "it is a link to nowhere, which is not there")
        try Files.remove(scratch("own/reader.desktop"))
        try Files.remove(scratch("site/reader.desktop"))
        #expect(used(library.scan()) == good)
        #expect(library.passedOver.isEmpty)
    }

    @Test func `an app whose manifest can be read no more is not taken for removed`() throws {
        let path = try scratch.write("system/reader.desktop", Self.entry)
        var library = library
        #expect(used(library.scan()) == path)
        try link("system/reader.desktop", to: "nowhere")
        let reason = "it is a link to nowhere, which is not there"
        let changes = library.scan()
        #expect(changes == [.invalid(AppID("reader"), file: path, reason: reason)])
        #expect(library.scan().isEmpty)
    }

    @Test func `nor is it by the next daemon, which has never read it`() throws {
        let path = scratch("system/reader.desktop")
        try link("system/reader.desktop", to: "nowhere")
        var library = library
        library.expect([AppID("reader")])
        let reason = "it is a link to nowhere, which is not there"
        #expect(library.scan() == [.invalid(AppID("reader"), file: path, reason: reason)])
        #expect(library.scan().isEmpty)
        #expect(library.passedOver.isEmpty)
        try Files.remove(path)
        #expect(library.scan() == [.removed(AppID("reader"))])
    }

    @Test func `a link to nothing hides what comes later, and is no mistake`() throws {
        try scratch.write("system/reader.desktop", Self.entry)
        try link("own/reader.desktop", to: "/dev/null")
        var library = library
        #expect(library.scan().isEmpty)
        #expect(library.passedOver.isEmpty)
        try Files.remove(scratch("own/reader.desktop"))
        #expect(used(library.scan()) == scratch("system/reader.desktop"))
        try link("own/reader.desktop", to: "/dev/null")
        #expect(library.scan() == [.removed(AppID("reader"))])
    }

    @Test func `a program that TryExec does not find is not installed, which is no mistake`() throws
    {
        let program = scratch("bin")
        let text = Self.entry.replacing("Exec=true", with: "Exec=true\nTryExec=\(program)")
        let path = try scratch.write("own/reader.desktop", text)
        var library = library
        let missing = ManifestChange.notInstalled(AppID("reader"), file: path, program: program)
        #expect(library.scan() == [missing])
        #expect(library.scan().isEmpty)
        try scratch.write("bin", "#!/bin/sh\n", permissions: 0o755)
        #expect(used(library.scan()) == path)
        try Files.remove(program)
        #expect(library.scan() == [missing])
    }

    /// Where its group comes makes no difference.
    @Test(arguments: [false, true])
    func `a file that is too large to be read is told by its size`(_ isLast: Bool) throws {
        let size = Int64(ManifestParser.readLimit) + 100
        let path = try scratch.write("own/reader.desktop", isLast ? "" : Self.entry)
        let file = try FileDescriptor(opening: path, [.writing])
        try file.truncate(to: isLast ? size - Int64(Self.entry.utf8.count) : size)
        if isLast {
            try FileDescriptor(opening: path, [.writing, .append]).writeAll(Self.entry)
        }
        var library = library
        let reason = "it has \(size) bytes; at most \(ManifestParser.limit) are read"
        #expect(library.scan() == [.invalid(AppID("reader"), file: path, reason: reason)])
    }
}
