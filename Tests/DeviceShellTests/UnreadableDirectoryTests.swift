import DeviceCore
@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// What is said of manifests in directories that cannot be read. A link to itself is one, also for
/// root.
struct UnreadableDirectoryTests {
    private static let entry =
        "[Desktop Entry]\nType=Application\nName=x\nExec=true\n\n[X-Offstage]\n"
        + "BackgroundModes=fetch;\nRefreshCommand=true\n"

    private let scratch = ScratchDirectory()
    private var app: AppID { AppID("app") }
    private var reason: String {
        "\(scratch("a")) cannot be read: \(Errno.loop.text)"
    }

    private func library() -> ManifestLibrary {
        ManifestLibrary(directories: [scratch("a"), scratch("b")], home: scratch.path)
    }

    private func shut() throws {
        try Files.rename(scratch("a"), to: scratch("aside"))
        #expect(try Command("ln", "-s", "a", scratch("a")).run().succeeded)
    }

    private func open() throws {
        try Files.remove(scratch("a"))
        try Files.rename(scratch("aside"), to: scratch("a"))
    }

    private func names(_ changes: [ManifestChange]) -> [String] {
        changes.map {
            switch $0 {
            case .present(let manifest): "\(manifest.id) is in \(manifest.file)"
            case .invalid(let id, _, let reason): "\(id): \(reason)"
            case .notInstalled(let id, _, let program): "\(id) wants \(program)"
            case .removed(let id): "\(id) is gone"
            }
        }
    }

    @Test func `what is below a directory that cannot be read is not gone`() throws {
        try scratch.write("a/app.desktop", Self.entry)
        try scratch.write("a/kde/feed.desktop", Self.entry)
        try scratch.write("b/other.desktop", Self.entry)
        var library = library()
        #expect(library.scan().count == 3)
        #expect(!library.isPartial)
        try shut()
        #expect(names(library.scan()) == ["app: \(reason)", "kde-feed: \(reason)"])
        #expect(library.isPartial)
        #expect(library.scan().isEmpty, "told once")
        try open()
        #expect(
            names(library.scan()) == [
                "app is in \(scratch("a/app.desktop"))",
                "kde-feed is in \(scratch("a/kde/feed.desktop"))",
            ]
        )
        #expect(!library.isPartial)
        try shut()
        #expect(library.scan().count == 2)
        try Files.remove(scratch("aside/app.desktop"))
        try open()
        #expect(
            names(library.scan()).sorted() == [
                "app is gone", "kde-feed is in \(scratch("a/kde/feed.desktop"))",
            ]
        )
    }

    @Test func `another file does not take the place of one that cannot be seen`() throws {
        try scratch.write("a/app.desktop", Self.entry)
        try scratch.write("a/plain.desktop", "[Desktop Entry]\nType=Application\nName=x\n")
        for name in ["app", "plain"] { try scratch.write("b/\(name).desktop", Self.entry) }
        var library = library()
        #expect(names(library.scan()) == ["app is in \(scratch("a/app.desktop"))"])
        try shut()
        #expect(names(library.scan()) == ["app: \(reason)"])
        try open()
        #expect(names(library.scan()) == ["app is in \(scratch("a/app.desktop"))"])
    }

    @Test func `one that an earlier daemon found may be in a directory that cannot be read`()
        throws
    {
        try scratch.write("a/app.desktop", Self.entry)
        try Files.makeDirectory(scratch("b"))
        try shut()
        var library = library()
        library.expect([app, AppID("gone")])
        #expect(names(library.scan()) == ["app: \(reason)", "gone: \(reason)"])
        try open()
        #expect(
            names(library.scan()) == ["app is in \(scratch("a/app.desktop"))", "gone is gone"]
        )
    }
}
