import Linux
import TestKit
import Testing

/// `offstage port`: a project on this machine, as its developer runs it.
struct PortTests {
    let scratch = ScratchDirectory()
    private let terminal = TestTerminal()

    private func port(_ arguments: String...) -> Outcome { terminal.run(["port"] + arguments) }

    private static let plist = """
        <plist><dict><key>CFBundleDisplayName</key><string>Tides</string>
        <key>UIBackgroundModes</key><array><string>fetch</string></array>
        <key>BGTaskSchedulerPermittedIdentifiers</key><array><string>t.refresh</string></array>
        </dict></plist>
        """

    @Test func `places that must be changed are named with what to write, and end with 1`() throws {
        try scratch.write("p/A.swift", "import UIKit\nlet a = #selector(b)\nlet c = UIScene.self\n")
        try scratch.write("p/B/C.swift", "let a = #selector(b)\n\nlet d = #selector(e)\n")
        let outcome = port(scratch("p"))
        #expect(outcome.status == 1)
        let output = outcome.output
        #expect(output.hasPrefix("To be changed\n"))
        #expect(
            output.contains("  #selector: Linux has no selectors.\n    instead: Pass a closure")
        )
        #expect(output.contains("\n    \(scratch("p"))/A.swift:2\n"))
        #expect(output.contains("\n    \(scratch("p"))/B/C.swift:1, 3\n"))
        #expect(output.contains("\nHere\n  UIScene\n    \(scratch("p"))/A.swift:3\n"))
        #expect(output.hasSuffix("2 files with 6 lines: 4 places to be changed, 1 that stays.\n"))
        #expect(outcome.errors == "offstage: 4 places must be changed\n")
    }

    @Test func `a project without such places ends with 0`() throws {
        try scratch.write("p/A.swift", "import Offstage\nlet a = UIApplication.shared\n")
        let outcome = port(scratch("p") + "/")
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output.hasSuffix("0 places to be changed, 1 that stays.\n"))
    }

    @Test func `the manifest is written once, and is good`() throws {
        try scratch.write("p/App/Info.plist", Self.plist)
        try scratch.write("bin/tides", "#!/bin/sh\n", permissions: 0o755)
        let target = scratch("tides.desktop")
        let first = port("--manifest", target, scratch("p"))
        #expect(first.status == 0, "\(first)")
        #expect(first.output.contains("Info.plist becomes\n  [Desktop Entry]\n"))
        var command = Command(Products.path(of: "offstage"), "lint", target)
        command.environment = Command.cleanEnvironment([
            "PATH": scratch("bin"), "OFFSTAGE_SOCKET": scratch("none"), "HOME": scratch("home"),
        ])
        let lint = try command.run()
        // The one thing to say: no daemon looks there.
        #expect(lint.output.hasPrefix("\(target): warning: is in no directory that is searched"))
        #expect(lint.output.split(separator: "\n").count == 1 && lint.succeeded, "\(lint)")
        #expect(try scratch.read("tides.desktop").contains("PermittedTaskIdentifiers=t.refresh;\n"))

        let second = port("--manifest", target, scratch("p"))
        #expect(second.status == 1 && second.errors.contains("is there already"))
        let printed = port("--manifest=-", scratch("p"))
        #expect(printed.output == (try scratch.read("tides.desktop")) && printed.status == 0)
    }

    @Test func `the identifier of the app is read from its project of Xcode`() throws {
        let variable = "$(PRODUCT_BUNDLE_IDENTIFIER).refresh"
        try scratch.write(
            "p/Tides/Info.plist",
            Self.plist.replacing("t.refresh", with: variable)
        )
        #expect(port("--manifest=-", scratch("p")).errors.contains("known to Xcode only"))
        let project = try Document("FuzzTesting/Corpus/FuzzXcodeProject/app-and-tests").contents
        try scratch.write("p/Tides.xcodeproj/project.pbxproj", project)
        let outcome = port("--manifest=-", scratch("p"))
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        #expect(outcome.output.hasSuffix("=io.tidewatch.app.refresh;\n"), "\(outcome)")
    }

    @Test func `what a printed manifest lacks is said on stderr, and ends with 1`() throws {
        let odd = Self.plist.replacing("t.refresh", with: "$(TEAM).refresh")
        try scratch.write("p/Info.plist", odd)
        let outcome = port("--manifest=-", scratch("p"))
        #expect(outcome.status == 1 && outcome.output.hasPrefix("[Desktop Entry]\n"))
        #expect(outcome.errors.hasSuffix("offstage: the manifest lacks 1 value\n"))
        let place = scratch("p/Info.plist") + ":3: BGTaskSchedulerPermittedIdentifiers: $(TEAM)"
        #expect(outcome.errors.hasPrefix(place), "\(outcome.errors)")
        #expect(port("--manifest=-", "--json", scratch("p")).status == 2)
    }

    @Test func `a list that cannot be read is reported before the manifest is refused`() throws {
        try scratch.write("p/Info.plist", "{ CFBundleName = Old; }")
        try scratch.write("p/A.swift", "let a = #selector(b)\n")
        let outcome = port("--manifest", scratch("a.desktop"), scratch("p"))
        #expect(outcome.status == 1 && outcome.output.contains("#selector"))
        #expect(outcome.errors.contains("Info.plist\" cannot be read: line 1: there is text"))
        #expect(!Files.exists(scratch("a.desktop")))
    }

    @Test func `a directory that is named twice is read once`() throws {
        try scratch.write("p/B/A.swift", "let a = #selector(b)\n")
        let outcome = port(scratch("p"), scratch("p/B"), scratch("p") + "/../p")
        #expect(
            outcome.output.hasSuffix("1 file with 1 line: 1 place to be changed, 0 that stay.\n")
        )
        #expect(outcome.errors == "offstage: 1 place must be changed\n")
    }

    @Test func `a manifest that cannot be made is refused with the reason`() throws {
        try scratch.write("none/A.swift", "")
        for (name, file) in [("two/A", "Info.plist"), ("two/B", "B-Info.plist")] {
            try scratch.write("\(name)/\(file)", Self.plist)
        }
        let target = scratch("a.desktop")
        let cases: [(arguments: [String], status: Int32, says: String)] = [
            ([target, scratch("none")], 3, "there is no Info.plist of an app"),
            ([target, scratch("two")], 2, "there is more than one app"),
            ([scratch("a.txt"), scratch("two/A")], 2, "is not a desktop file"),
            ([scratch("no/a.desktop"), scratch("two/A")], 1, "cannot be written"),
        ]
        for (arguments, status, says) in cases {
            let outcome = terminal.run(["port", "--manifest"] + arguments)
            #expect(outcome.status == status && outcome.errors.contains(says), "\(outcome)")
        }
        #expect(!Files.exists(target))
        #expect(port(scratch("nowhere")).status == 3)
        #expect(port(scratch("none/A.swift")).status == 2)
        #expect(port().status == 2)
    }

    @Test func `what is no file of the project's own is skipped, and what cannot be read is named`()
        throws
    {
        let other = "let a = #selector(b)\n"
        for folder in [".build", ".git", "Pods", "Carthage", "DerivedData", "A.xcframework"] {
            try scratch.write("p/\(folder)/A.swift", other)
        }
        try scratch.write("p/.Hidden.swift", other)
        try scratch.write("p/notes.txt", other)
        try scratch.write("p/A.swift", "let a = 1\n")
        #expect(port(scratch("p")).status == 0)

        try scratch.write("p/Old/Info.plist", "{ CFBundleName = Old; }")
        scratch.write([0xFF, 0xFE, 0x41, 0], to: "p/Wide.swift")
        scratch.write([0x41, 0xC0, 0x41], to: "p/Latin.swift")
        scratch.write([UInt8](repeating: 0x20, count: (4 << 20) + 1), to: "p/Large.swift")
        for arguments in [
            ["mkfifo", scratch("p/Pipe.swift")],
            ["ln", "-s", scratch("p"), scratch("p/Loop")],
            ["ln", "-s", scratch("p/A.swift"), scratch("p/Link.swift")],
            ["mkdir", scratch("p/Folder.swift")],
        ] {
            #expect(try Command(arguments).run().succeeded)
        }
        let outcome = port(scratch("p"))
        #expect(outcome.status == 1)
        #expect(outcome.errors == "offstage: 5 entries could not be read\n")
        let unread = outcome.output.split(separator: "\n").drop { $0 != "Not read" }.dropFirst()
            .prefix { $0.hasPrefix("  ") }.map { $0.dropFirst(2 + scratch("p/").count) }
        #expect(
            unread.sorted() == [
                "Large.swift: it is larger than 4 MiB", "Latin.swift: it is not UTF-8",
                "Link.swift: it is a link, and links are not followed; name its target",
                "Loop: it is a link, and links are not followed; name its target",
                "Old/Info.plist: line 1: there is text outside of an element",
                "Pipe.swift: it is not a file", "Wide.swift: it is UTF-16; write it as UTF-8",
            ]
        )
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can run a program as another user"))
    func `a file that may not be read is named`() throws {
        try scratch.write("p/A.swift", "let a = 1\n", permissions: 0o000)
        try scratch.write("p/Locked/B.swift", "")
        try Files.setPermissions(scratch("p/Locked"), 0o000)
        defer { try? Files.setPermissions(scratch("p/Locked"), 0o700) }
        try Files.setPermissions(scratch.path, 0o755)
        try Files.setPermissions(scratch("p"), 0o755)
        var command = Command(Products.path(of: "offstage"), "port", scratch("p"))
        command.user = Command.ordinaryUser
        let outcome = try command.run()
        #expect(outcome.status == .exited(1))
        #expect(outcome.output.contains("/A.swift: Permission denied\n"), "\(outcome)")
        #expect(outcome.output.contains("/Locked: Permission denied\n"), "\(outcome)")
    }

    @Test func `each field of the JSON is documented, and there is each`() throws {
        try scratch.write("p/A.swift", "#if os(iOS)\nlet a = UIScene.self\n#endif\n")
        try scratch.write("p/Info.plist", Self.plist)
        #expect(try Command("mkfifo", scratch("p/B.swift")).run().succeeded)
        let outcome = port("--json", scratch("p"))
        #expect(outcome.status == 1)
        try JSONTests.expect("port", outcome.output)
        let documented = try #require(try JSONTests.documented()["offstage port"])
        #expect(documented.subtracting(JSONTests.fields(outcome.output)) == [])
    }

    /// The page about porting follows one app; this is what it shows of it.
    @Test func `the app of the page is reported as the page shows, and its port is clean`() throws {
        let fixtures = Document("Tests/Fixtures/port").file
        var command = Command(Products.path(of: "offstage"), "port", "Tides")
        command.directory = fixtures
        let output = try command.run().output
        let lines = try Document("docs/porting.md").contents.split(separator: "\n")
        let shown = lines.drop { $0 != "$ offstage port Tides" }.dropFirst()
            .prefix { $0 != "```" && !$0.hasPrefix("$") }
        #expect(shown.count > 20)
        // In order; lines are left out only where the page says so.
        var rest = output.split(separator: "\n")[...]
        var isGap = false
        for line in shown {
            if line == "  …" {
                isGap = true
                continue
            }
            if isGap { rest = rest.drop { $0 != line } }
            isGap = false
            #expect(rest.popFirst() == line)
        }
        #expect(isGap || rest.isEmpty)

        let manifest = terminal.run(["port", "--manifest=-", fixtures + "/Tides"]).output
        #expect(try Document("Examples/Tides/tides.desktop").contents == manifest)
        let ported = port(Document("Examples/Tides").file)
        #expect(ported.status == 0, "\(ported)")
    }

    @Test func `names of files do not move the cursor`() throws {
        try scratch.write("p/\u{1B}[2J.swift", "let a = #selector(b)\n")
        let outcome = port(scratch("p"))
        #expect(
            !outcome.output.contains("\u{1B}") && outcome.output.contains("\u{FFFD}[2J.swift:1")
        )
    }
}
