import TestKit
import Testing
import Vocabulary

struct ManifestParserTests {
    static let full = """
        # A reader of feeds.
        [Desktop Entry]
        Type=Application
        Name=Feed\\sReader
        Name[de]=Nachrichtenleser
        Exec=reader --title %c %U
        TryExec=~/bin/reader
        Path=~/feeds
        Icon=reader
        Terminal=true
        NoDisplay=true

        [X-Offstage]
        BackgroundModes=processing;fetch;fetch;bluetooth-central;
        PermittedTaskIdentifiers=org.example.clean;org.example.sync.*;
        Extensions=/usr/libexec/share;~/bin/helper
        Environment=TZ=UTC;TEXT=a=b\\;c;EMPTY=;
        PassEnvironment=EDITOR;QT_*;
        RefreshCommand=~/bin/reader -x "reload all" ~/feeds 100%%
        ProcessingCommand=reader --clean
        RefreshInterval=1h30m
        ProcessingInterval=2d
        ProcessingNeeds=power;network;
        WhenInterrupted=freeze
        NewDataFrom=command:reader -x print-unread
        FailedFrom=command:grep -q error ~/feeds/log
        NoDataExit=3;4;
        RetryExit=75;111;
        UseFrom=exec:/usr/bin/reader
        NeedsNetwork=false
        MemoryLimit=200M
        StopTimeout=10s
        WakeOn-bluetooth=interface='org.bluez.Device1',member='Changed';path=/org/bluez;
        """

    @Test func aVariableMayBeginWithTheHomeDirectory() throws {
        let text = "[Desktop Entry]\nType=Application\nName=App\nExec=app\n[X-Offstage]\n"
        let keys = "BackgroundModes=fetch;\nRefreshCommand=app -r\n"
        let manifest = try app(text + keys + "Environment=A=~/a;B=x~/b;C=~;\n")
        let values = manifest.environment.map(\.value)
        #expect(values[0].hasPrefix("/") && values[0].hasSuffix("/a"))
        #expect(values[1...] == ["x~/b", "~"], "only where a path begins")
    }

    @Test func everyKeyReachesItsField() throws {
        let manifest = try app(Self.full)
        #expect(
            manifest
                == AppManifest(
                    id: AppID("org.example.Reader"),
                    name: "Feed Reader",
                    file: "/usr/share/applications/reader.desktop",
                    exec: ["reader", "--title", "Feed Reader"],
                    tryExec: "/home/me/bin/reader",
                    directory: "/home/me/feeds",
                    terminal: true,
                    noDisplay: true,
                    modes: [.fetch, .processing, .bluetooth],
                    permittedTaskIdentifiers: ["org.example.clean", "org.example.sync.*"],
                    extensions: ["/usr/libexec/share", "/home/me/bin/helper"],
                    environment: [
                        EnvironmentVariable(name: "TZ", value: "UTC"),
                        EnvironmentVariable(name: "TEXT", value: "a=b;c"),
                        EnvironmentVariable(name: "EMPTY", value: ""),
                    ],
                    passEnvironment: ["EDITOR", "QT_*"],
                    refreshCommand: [
                        "/home/me/bin/reader", "-x", "reload all", "/home/me/feeds", "100%",
                    ],
                    processingCommand: ["reader", "--clean"],
                    refreshInterval: .minutes(90),
                    processingInterval: .days(2),
                    processingNeeds: Needs(power: true, network: true),
                    whenInterrupted: .freeze,
                    newDataFrom: .command(["reader", "-x", "print-unread"]),
                    failedFrom: ["grep", "-q", "error", "/home/me/feeds/log"],
                    noDataExit: [3, 4],
                    retryExit: [75, 111],
                    useFrom: .exec("/usr/bin/reader"),
                    needsNetwork: false,
                    memoryLimit: 200 << 20,
                    stopTimeout: .seconds(10),
                    wakeOn: [
                        WakeRule(
                            mode: .bluetooth,
                            rule: "interface='org.bluez.Device1',member='Changed'"
                        ),
                        WakeRule(mode: .bluetooth, rule: "path=/org/bluez"),
                    ]
                )
        )
        let value = try ValueEncoder().encode(manifest)
        #expect(try ValueDecoder().decode(AppManifest.self, from: value) == manifest)
    }

    @Test func aFileWithoutOurGroupIsNoneOfOurBusiness() {
        let files = [
            "", "\n\n", "nonsense", "[Desktop Entry]\nType=Application\nName=X\n",
            "[Desktop Entry]\nName=[X-Offstage]\n", "# [X-Offstage]\n",
            "[Desktop Entry]\nType=Application\nName=X\nHidden=true\n[X-Offstage]\nBroken\n",
            String(repeating: "Name[de]=x\n", count: 10_000),
        ]
        for file in files { #expect(parse(file) == .notAnApp, "\(file.prefix(60))") }
        #expect(parse(bytes: [0x5B, 0xFF, 0x0A]) == .notAnApp)
    }

    @Test(arguments: ["[X-offstage]", "[x-OFFSTAGE]", "[X-Offstage] # ours", "[X-Offstage] "])
    func `a header that can only have been meant to be ours is one, or is said to be wrong`(
        header: String
    ) {
        let result = parse(entry + header + "\nBackgroundModes=fetch;\n")
        if header == "[X-Offstage] " {
            guard case .app = result else { return #expect(Bool(false), "\(result)") }
            return
        }
        guard case .invalid(let diagnostics) = result else {
            return #expect(Bool(false), "\(header): \(result)")
        }
        #expect(diagnostics.map(\.line) == [5])
        #expect(diagnostics[0].fix.hasPrefix("Write [X-Offstage]"))
        #expect(diagnostics[0].fix.contains("comment") == header.contains("#"))
    }

    @Test(arguments: [
        ("[X-Offstag]", true), ("[Offstage]", true), ("[X-Off-Stage]", true), ("[X-GNOME]", false),
    ])
    func `who meant a group to be ours is told what ours is called`(
        header: String,
        isMeant: Bool
    ) {
        let text = entry + header + "\nBackgroundModes=fetch;\n"
        #expect(parse(text) == .notAnApp)
        let reason = ManifestParser.reasonForNoApp(bytes: Array(text.utf8))
        #expect(reason.line == (isMeant ? 5 : nil))
        #expect(reason.fix.hasPrefix("Write [X-Offstage].") == isMeant, "\(reason)")
    }

    @Test func `a comment behind a value that may be anything is a warning`() {
        let text =
            entry + "Path=/srv # work here\n[X-Offstage]\nUseFrom=exec:/bin/a # the reader\n"
            + "Environment=COLOR=#fff;\nBackgroundModes=fetch;\nRefreshCommand=true\n"
        guard case .app(_, let warnings) = parse(text) else {
            return #expect(Bool(false), "\(parse(text))")
        }
        let comments = warnings.filter { $0.fix == String.commentFix }
        #expect(comments.map(\.key) == ["Path", "UseFrom"])
        #expect(comments.map(\.value) == ["# work here", "# the reader"])
    }

    @Test func defaultsAreThoseOfTheTable() throws {
        let manifest = try app(entry + "[X-Offstage]\n")
        #expect(
            manifest
                == AppManifest(
                    id: AppID("org.example.Reader"),
                    name: "Reader",
                    file: "/usr/share/applications/reader.desktop",
                    exec: ["reader"]
                )
        )
        #expect(manifest.retryExit == [75])
        #expect(manifest.needsNetwork)
    }

    @Test(arguments: [
        (
            "fetch, processing",
            "\"fetch, processing\" has a comma, which separates nothing. Separate with ; as in "
                + "fetch;processing."
        ),
        // The comma is not all that is wrong.
        ("fetch,procesing;", "\"fetch,procesing\" is not a mode. "),
    ])
    func modesWithCommasAreNamedAsSuch(value: String, message: String) {
        guard case .invalid(let found) = parse(entry + "[X-Offstage]\nBackgroundModes=\(value)\n")
        else {
            Issue.record("\(value) was taken")
            return
        }
        let text = found.first?.description ?? ""
        #expect(text.hasPrefix("line 6: BackgroundModes: \(message)"), "\(text)")
    }

    @Test(arguments: wrong)
    func whatIsWrongIsNamedWithItsLineAndWhatToWrite(line: String, message: String) {
        let text = entry + "[X-Offstage]\nBackgroundModes=fetch;processing;health;\n\(line)\n"
        guard case .invalid(let diagnostics) = parse(text) else {
            Issue.record("\(line) was taken")
            return
        }
        #expect(diagnostics.first { $0.severity == .error }?.description == "line 7: \(message)")
    }

    @Test(arguments: [
        (
            "RefreshComand=x",
            "RefreshComand: is not a key of [X-Offstage], and is ignored. Did you "
                + "mean RefreshCommand?"
        ),
        (
            "PermittedTaskIdentifiers=a.b,a.c;",
            "PermittedTaskIdentifiers: \"a.b,a.c\" has a comma, which separates nothing. Separate "
                + "with ; as in a.b;a.c."
        ),
        (
            "Colour=red",
            "Colour: is not a key of [X-Offstage], and is ignored. See the manual for "
                + "the keys."
        ),
        (
            "RefreshInterval=1h",
            "RefreshInterval: has no effect without RefreshCommand. Add "
                + "RefreshCommand, or remove this key."
        ),
    ])
    func whatIsOddButHarmlessIsAWarning(line: String, message: String) {
        let text = entry + "[X-Offstage]\nBackgroundModes=fetch;\n\(line)\n"
        guard case .app(_, let warnings) = parse(text) else {
            Issue.record("\(line) was refused")
            return
        }
        #expect(warnings.map(\.description) == ["line 7: \(message)"])
    }

    @Test(arguments: [
        ("[X-Offstage]\n", "line 1: \"[X-Offstage]\" is the first group."),
        ("[Desktop Entry]\nName=X\n[X-Offstage]\n", "line 1: Type is missing."),
        ("[Desktop Entry]\nType=Link\nName=X\n[X-Offstage]\n", "line 2: Type: \"Link\" is not"),
        ("[Desktop Entry]\nType=Application\n[X-Offstage]\n", "line 1: Name is missing."),
        (
            "[Desktop Entry]\nType=Application\nName=X\n[X-Offstage]\n[X-Offstage]\n",
            "line 5: \"[X-Offstage]\" is here for the second time."
        ),
        (
            "[Desktop Entry]\nType=Application\nName=X\nPath=here\n[X-Offstage]\n",
            "line 4: Path: \"here\" is not an absolute path."
        ),
        (
            "[Desktop Entry]\nType=Application\nName=X\nExec=\n[X-Offstage]\n",
            "line 4: Exec: \"\" is empty."
        ),
    ])
    func anEntryThatNoDesktopCouldUseIsRefused(text: String, message: String) {
        guard case .invalid(let diagnostics) = parse(text) else {
            Issue.record("was taken")
            return
        }
        #expect(diagnostics.contains { $0.description.hasPrefix(message) }, "\(diagnostics)")
    }

    @Test func translationsOfOurKeysAreIgnored() throws {
        let manifest = try app(entry + "[X-Offstage]\nMemoryLimit[de]=viel\nMemoryLimit=1M\n")
        #expect(manifest.memoryLimit == 1 << 20)
    }

    @Test func whatIsWrongIsToldInTheOrderOfTheFile() {
        let text = "[Desktop Entry]\nname\nType=Link\nName=X\n[X-Offstage]\nno\nA=1\nB\n"
        guard case .invalid(let diagnostics) = parse(text) else {
            Issue.record("was taken")
            return
        }
        #expect(diagnostics.map(\.line) == [2, 3, 6, 7, 8])
        #expect(diagnostics.map(\.severity) == [.warning, .error, .error, .warning, .error])
    }

    @Test func aFileThatIsTooLargeOrNotTextIsRefused() {
        let large = entry + "[X-Offstage]\n" + String(repeating: "#\n", count: 40_000)
        guard case .invalid(let tooLarge) = parse(large) else {
            Issue.record("was taken")
            return
        }
        #expect(tooLarge[0].description.contains("at most 65536"))
        let bytes = Array((entry + "[X-Offstage]\nBackgroundModes=").utf8) + [0xFF, 0x0A]
        guard case .invalid(let notText) = parse(bytes: bytes) else {
            Issue.record("was taken")
            return
        }
        #expect(notText[0].description == "line 6: is not UTF-8. Save the file as UTF-8.")
    }

    @Test(arguments: UInt64(0)..<32)
    func damagedFilesNeverTrap(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let pieces =
            ManifestKey.all.map(\.name) + [
                "[X-Offstage]", "[Desktop Entry]", "=", ";", "\\", "\"", "%", "'", "~/", "#", "\n",
                "command:", "file:", "é", "\u{301}", "\0", " ", "fetch;", "15m", "type=", ",", "[",
                "]",
            ]
        for _ in 0..<100 {
            var text = random.chance(1, in: 2) ? entry + "[X-Offstage]\n" : ""
            for _ in 0..<random.below(40) { text += random.pick(from: pieces) ?? "" }
            _ = parse(text)
        }
    }

    @Test func manyMistakesAreNotAllTold() {
        let text = entry + "[X-Offstage]\n" + String(repeating: "?\n", count: 20_000)
        guard case .invalid(let diagnostics) = parse(text) else {
            Issue.record("was taken")
            return
        }
        #expect(diagnostics.count <= 110)
    }
}

/// The least that a desktop takes; four lines.
let entry = "[Desktop Entry]\nType=Application\nName=Reader\nExec=reader\n"

func parse(_ text: String) -> ManifestResult {
    ManifestParser.parse(
        text: text,
        id: AppID("org.example.Reader"),
        file: "/usr/share/applications/reader.desktop",
        home: "/home/me"
    )
}

func parse(bytes: [UInt8]) -> ManifestResult {
    ManifestParser.parse(bytes: bytes, id: AppID("org.example.Reader"), file: "", home: "/home/me")
}

/// The manifest in `text`, which must be without fault.
func app(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> AppManifest {
    let result = parse(text)
    guard case .app(let manifest, let warnings) = result else {
        Issue.record("\(result)", sourceLocation: sourceLocation)
        throw NotAnApp()
    }
    #expect(warnings == [], sourceLocation: sourceLocation)
    return manifest
}

struct NotAnApp: Error {}
