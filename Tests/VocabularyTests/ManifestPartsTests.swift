import Testing
import Linux
import TestKit
import Vocabulary

struct ManifestPartsTests {
    static let searchPath = CurrentProcess.environment("PATH") ?? "/usr/bin"

    @Test(arguments: [
        ("reader %f %F %u %U %d %n %v %m x", ["reader", "x"]),
        ("reader --file=%f", ["reader", "--file="]),
        ("reader %i %c %k", ["reader", "--icon", "reader.png", "The Reader", "/a b.desktop"]),
        ("reader 100%% \"%c\" \"\"", ["reader", "100%", "The Reader", ""]),
        (
            #""the reader" "a\\"b" "\\$HOME" "\\`" "\\\\\\\\""#,
            ["the reader", "a\"b", "$HOME", "`", "\\\\"]
        ),
        ("a\"b c\"d", ["ab cd"]),
        (#"sh\s-c\s"echo\sx\ty""#, ["sh", "-c", "echo x\ty"]),
    ])
    func execIsReadAsADesktopReadsIt(exec: String, arguments: [String]) throws {
        let text = """
            [Desktop Entry]
            Type=Application
            Name=The Reader
            Icon=reader.png
            Exec=\(exec)
            [X-Offstage]
            """
        let result = ManifestParser.parse(
            text: text,
            id: AppID("a"),
            file: "/a b.desktop",
            home: "/"
        )
        guard case .app(let manifest, _) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(manifest.exec == arguments)
    }

    @Test(arguments: [
        ("sh -c 'a b'", ["sh", "-c", "a b"]), ("a&b", ["a&b"]), (#"a\\ b"#, ["a b"]),
        (#""a\\nb""#, [#"a\nb"#]), ("a x%i", ["a", "x"]),
    ])
    func whatDesktopsTakeBesidesIsTakenWithAWarning(exec: String, arguments: [String]) {
        let text = "[Desktop Entry]\nType=Application\nName=R\nExec=\(exec)\n[X-Offstage]\n"
        guard case .app(let manifest, let warnings) = parse(text) else {
            Issue.record("was refused")
            return
        }
        #expect(manifest.exec == arguments)
        #expect(warnings.count == 1)
        #expect(warnings[0].line == 4)
    }

    @Test func identifiersArePermittedByNameOrBeginning() {
        let manifest = AppManifest(
            id: AppID("a"),
            name: "A",
            permittedTaskIdentifiers: ["org.example.one", "org.example.sync.*"]
        )
        #expect(manifest.permits(identifier: "org.example.one"))
        #expect(manifest.permits(identifier: "org.example.sync.mail"))
        #expect(!manifest.permits(identifier: "org.example.one.more"))
        #expect(!manifest.permits(identifier: "org.example.sync."))
        #expect(!manifest.permits(identifier: "org.example.syncmail"))
        #expect(!manifest.permits(identifier: ""))
        #expect(!AppManifest(id: AppID("a"), name: "A").permits(identifier: "x"))
    }

    @Test func theModesOfAManifestAreSortedAndEachOnce() {
        let manifest = AppManifest(
            id: AppID("a"),
            name: "A",
            modes: [.watch, .fetch, .watch, .processing]
        )
        #expect(manifest.modes == [.fetch, .processing, .watch])
    }

    @Test func modesAreKnownByTheirOldNamesToo() {
        #expect(BackgroundMode(name: "bluetooth-peripheral") == .bluetooth)
        #expect(BackgroundMode(name: "external-accessory") == .accessory)
        #expect(BackgroundMode(name: "remote-notification") == .remoteNotification)
        #expect(BackgroundMode(name: "Fetch") == nil)
        #expect(BackgroundMode.allCases == BackgroundMode.allCases.sorted())
        #expect(BackgroundMode.allCases.count == 13)
        for mode in BackgroundMode.allCases {
            #expect(BackgroundMode(name: mode.rawValue) == mode)
            #expect(!mode.description.trigger.isEmpty && !mode.description.rate.isEmpty)
        }
    }

    @Test func theTableHoldsEachKeyOnceWithItsText() {
        let names = ManifestKey.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count == 24)
        for key in ManifestKey.all {
            #expect(!key.type.isEmpty)
            #expect(key.documentation.hasSuffix("."), "\(key.name)")
            for companion in key.companions { #expect(ManifestKey.named(companion) != nil) }
        }
    }

    @Test(
        arguments: [
            ("a.desktop", "a"), ("org.example.App.desktop", "org.example.App"),
            ("kde/konsole.desktop", "kde-konsole"), ("a/b/c.desktop", "a-b-c"),
            ("é b.desktop", "é b"),
            ("a.txt", nil), (".desktop", nil), ("a/.desktop", nil), ("/a.desktop", nil),
            ("../a.desktop", nil), ("a//b.desktop", nil), ("a\n.desktop", nil), ("", nil),
            (String(repeating: "x", count: 256) + ".desktop", nil),
        ] as [(String, String?)]
    )
    func theIdIsThePathWithoutItsEnding(path: String, id: String?) {
        #expect(DesktopFileID.id(relativePath: path) == id.map { AppID($0) })
    }

    @Test func theUsersDirectoryIsSearchedFirst() {
        #expect(
            DesktopFileID.directories(dataHome: nil, dataDirectories: nil, home: "/home/me") == [
                "/home/me/.local/share/applications", "/usr/local/share/applications",
                "/usr/share/applications",
            ]
        )
        #expect(
            DesktopFileID.directories(
                dataHome: "/data/",
                dataDirectories: "/a::b:/c/:/a",
                home: "/h"
            ) == ["/data/applications", "/a/applications", "/c/applications"]
        )
        #expect(
            DesktopFileID.directories(dataHome: "relative", dataDirectories: "", home: "/h").first
                == "/h/.local/share/applications"
        )
    }

    @Test(
        arguments: [
            ("RefreshComand", "RefreshCommand"), ("refreshcommand", "RefreshCommand"),
            ("RefershCommand", "RefreshCommand"), ("NeedNetwork", "NeedsNetwork"), ("Zebra", nil),
            ("", nil),
        ] as [(String, String?)]
    )
    func misspeltWordsFindTheirNeighbour(word: String, meant: String?) {
        let names = ManifestKey.all.map(\.name)
        #expect(Spelling.suggestion(for: word, among: names) == meant)
        // Two letters the wrong way round are one slip; the first of equally near ones counts.
        #expect(Spelling.suggestion(for: "no", among: ["off", "on", "none"]) == "on")
        #expect(Spelling.suggestion(for: "of", among: ["or", "on"]) == "or")
    }

    @Test(
        arguments: [
            ("0", 0), ("4096", 4096), ("512K", 512 << 10), ("200M", 200 << 20), ("1G", 1 << 30),
            ("2T", 2 << 40), ("1GiB", 1 << 30), ("1gb", 1 << 30), ("17B", 17),
            ("", nil), ("M", nil), ("1.5G", nil), ("-1", nil), ("+1", nil), ("1 M", nil),
            ("1MM", nil),
            ("9223372036854775807", .max), ("9223372036854775808", nil), ("9999999999G", nil),
            ("1i", nil),
        ] as [(String, Int64?)]
    )
    func sizesAreReadInStepsOf1024(text: String, bytes: Int64?) {
        #expect(ByteSize.parse(text) == bytes)
    }

    @Test func sizesAreWrittenShort() {
        let sizes: [Int64] = [0, 1023, 1024, 1536, 200 << 20, 3 << 39, -2048, .min]
        #expect(
            sizes.map(ByteSize.text) == [
                "0 B", "1023 B", "1 KiB", "1.5 KiB", "200 MiB", "1.5 TiB", "-2 KiB",
                "-8388608 TiB",
            ]
        )
    }

    @Test(
        .enabled(
            if: Files.executable("desktop-file-validate", searchPath: Self.searchPath) != nil,
            "desktop-file-validate is not installed (Debian: desktop-file-utils)"
        )
    )
    func whatWeDocumentPassesDesktopFileValidate() throws {
        let scratch = ScratchDirectory()
        let text = """
            [Desktop Entry]
            Type=Application
            Name=Newsboat
            Exec=newsboat
            Terminal=true

            [X-Offstage]
            BackgroundModes=fetch;processing;bluetooth;
            PermittedTaskIdentifiers=org.example.*;
            RefreshCommand=newsboat -x reload
            NewDataFrom=command:newsboat -x print-unread
            FailedFrom=command:sh -c "grep -q Error ~/.newsboat/error.log && exit 1"
            RefreshInterval=30m
            ProcessingCommand=~/bin/backup "two words" 100%%
            ProcessingNeeds=power;unmetered;
            Environment=A=1\\;2;
            WakeOn-bluetooth=interface='org.bluez.Device1',member='Changed';
            MemoryLimit=200M
            """
        _ = try app(text)
        let path = try scratch.write("newsboat.desktop", text)
        let outcome = try Command("desktop-file-validate", path).run()
        #expect(outcome.succeeded, "\(outcome)")
        #expect(outcome.output + outcome.errors == "")
    }
}
