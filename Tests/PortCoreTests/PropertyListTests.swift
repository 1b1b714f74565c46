import Linux
import PortCore
import TestKit
import Testing
import Vocabulary

/// Both forms of property lists, good ones and damaged ones.
struct PropertyListTests {
    private let xml: [UInt8]

    init() throws { xml = try Files.read(FixtureTests.folder + "Headlines/App/Info.plist") }

    /// The same in binary form, as Python writes it.
    private func binary(_ text: [UInt8]) throws -> [UInt8] {
        let scratch = ScratchDirectory()
        scratch.write(text, to: "a.plist")
        let script = """
            import plistlib, sys
            with open(sys.argv[1], "rb") as file: value = plistlib.load(file)
            form = plistlib.FMT_BINARY
            with open(sys.argv[2], "wb") as file: plistlib.dump(value, file, fmt=form)
            """
        let outcome = try Command(
            "python3",
            "-c",
            script,
            scratch("a.plist"),
            scratch("b.plist")
        ).run()
        try #require(outcome.succeeded, "\(outcome)")
        return try Files.read(scratch("b.plist"))
    }

    private func list(_ body: String) throws -> Value {
        try PropertyList.read(Array("<plist version=\"1.0\">\(body)</plist>".utf8)).root
    }

    @Test func `both forms have the same values`() throws {
        let binary = try binary(xml)
        #expect(binary.starts(with: Array("bplist00".utf8)))
        let root = try PropertyList.read(xml).root
        #expect(try PropertyList.read(binary).root == root)
        #expect(root["CFBundleDisplayName"] == "Headlines & More")
        #expect(root["LSRequiresIPhoneOS"] == true)
        #expect(root["UIBackgroundModes"]?[0] == "processing")
    }

    @Test func `another reader finds what ours does`() throws {
        let text = """
            <plist><dict><key>a</key><array><integer>-3</integer><real>1.5</real><true/><false/>
            <string></string><string/><string>ä&#x20AC;&lt;<![CDATA[<&>]]></string>
            <array/><dict/><integer>255</integer><integer>70000</integer></array>
            <key>ü</key><string>日本</string></dict></plist>
            """
        let mine = try PropertyList.read(Array(text.utf8)).root
        #expect(mine["ü"] == "日本")
        #expect(
            mine["a"]?.listValue == [
                -3, 1.5, true, false, "", "", "ä€<<&>", .list([]), .map([:]), 255, 70000,
            ]
        )
        var other = try PropertyList.read(try binary(Array(text.utf8))).root
        // Real numbers mean nothing to a manifest; the binary reader leaves them out.
        if case .map(var map) = other, var values = map["a"]?.listValue {
            values[1] = 1.5
            map["a"] = .list(values)
            other = .map(map)
        }
        #expect(other == mine)
    }

    @Test(
        arguments: [
            ("", "ends too soon"), ("<dict>", "no <plist>"), ("<plist>", "ends too soon"),
            ("<plist><dict><string>a</string></dict></plist>", "without a <key>"),
            ("<plist><string>a</plist>", "holds another element"),
            ("<plist><string>a &unknown; b</string></plist>", "no entity"),
            ("<plist><string>a & b</string></plist>", "write &amp;"),
            ("<plist><integer>x</integer></plist>", "no integer"),
            ("<plist><table/></plist>", "no element"), ("<plist><!-- ", "within a comment"),
            ("{ a = b; }", "text outside"),
            ("<plist><true/><true/></plist>", "more than one value"),
            ("<plist></string></plist>", "closes nothing"),
        ]
    )
    func `what is wrong is said`(text: String, reason: String) {
        do throws(PropertyList.Mistake) {
            let list = try PropertyList.read(Array(text.utf8))
            Issue.record("\(text) is \(list)")
        } catch {
            #expect(error.reason.contains(reason), "\(text): \(error)")
        }
    }

    @Test func `a list that is too deep is refused`() {
        let deep = String(repeating: "<array>", count: 1000)
        #expect(throws: PropertyList.Mistake.self) { try list(deep) }
    }

    @Test func `a binary list that holds itself is refused`() throws {
        // One array whose only element is itself.
        var bytes = Array("bplist00".utf8) + [0xA1, 0x00, 0x08]
        bytes += [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 1]
        bytes += [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 10]
        #expect(throws: PropertyList.Mistake.self) { try PropertyList.read(bytes) }
        // The same with `true` instead: only the recursion was wrong.
        bytes[8] = 0x09
        #expect(try PropertyList.read(bytes).root == true)
    }

    /// In the binary form many values may be one string of the file.
    @Test func `a binary list that is much larger than its file is refused`() throws {
        func list(_ count: Int) -> [UInt8] {
            // An array of so many references to the object behind it, a string of 1,000 bytes.
            var bytes = Array("bplist00".utf8) + [0xAF, 0x12] + Self.number(count, 4)
            bytes += [UInt8](repeating: 1, count: count)
            let string = bytes.count
            bytes += [0x5F, 0x11] + Self.number(1000, 2) + [UInt8](repeating: 0x61, count: 1000)
            let table = bytes.count
            bytes += Self.number(8, 4) + Self.number(string, 4)
            bytes += [0, 0, 0, 0, 0, 0, 4, 1] + Self.number(2, 8) + Self.number(0, 8)
            return bytes + Self.number(table, 8)
        }
        #expect(try PropertyList.read(list(10_000)).root.listValue?.count == 10_000)
        #expect(throws: PropertyList.Mistake.self) { try PropertyList.read(list(17_000)) }
    }

    private static func number(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    @Test func `only what its author must add keeps a project from being ported`() {
        func changes(_ body: String) -> (Int, Bool) {
            var project = PortedProject(served: [.fetch])
            let text = "<plist><dict>\(body)</dict></plist>"
            project.addPropertyList(Array(text.utf8), file: "Info.plist", folder: "a")
            return (project.changes, project.isPorted)
        }
        let mode = "<key>UIBackgroundModes</key><array><string>audio</string></array>"
        #expect(changes(mode) == (0, true))
        let identifiers = "<array><string>$(TEAM).a</string></array>"
        #expect(
            changes(mode + "<key>BGTaskSchedulerPermittedIdentifiers</key>" + identifiers)
                == (1, false)
        )
    }

    @Test func `a value is told at its line behind its key`() throws {
        let text = """
            <plist><dict><key>Other</key><string>teleport</string>
            <key>UIBackgroundModes</key><array>
            <string>teleport</string></array>
            <key>Number</key><integer> -0x1F </integer></dict></plist>
            """
        let list = try PropertyList.read(Array(text.utf8))
        #expect(list.root["Number"] == -31)
        let notes = PortedManifest(list, folder: "a", served: []).notes
        let mode = try #require(notes.first { $0.value == "teleport" })
        #expect(mode.line == 3 && mode.state == .never)
        #expect(notes.contains { $0.key == "CFBundleName" && !$0.mustChange })
    }

    @Test func `more identifiers than a manifest has room for are told`() throws {
        for (count, suffix, kept) in [
            (3000, "", 1000), (900, String(repeating: "n", count: 150), 0),
        ] {
            let identifiers = (0..<count).map { Value.string("id\($0)" + suffix) }
            let root: Value = [
                "CFBundleName": .string("a\u{1B}[2J\u{85}b"),
                "BGTaskSchedulerPermittedIdentifiers": .list(identifiers + identifiers),
            ]
            let manifest = PortedManifest(root, folder: "a", served: [])
            if kept > 0 { #expect(manifest.identifiers.count == kept) }
            #expect(manifest.notes.count == count - manifest.identifiers.count)
            #expect(!manifest.notes.isEmpty && manifest.notes.allSatisfy(\.mustChange))
            #expect(manifest.text.contains("Name=a [2J b\n"))
            let result = ManifestParser.parse(
                text: manifest.text,
                id: AppID("a"),
                file: "/a.desktop",
                home: "/home/a"
            )
            guard case .app(let app, let warnings) = result else {
                Issue.record("\(result)")
                continue
            }
            #expect(warnings == [])
            #expect(app.permittedTaskIdentifiers.count == manifest.identifiers.count)
        }
    }

    @Test func `a damaged list is read or refused, never more`() throws {
        for whole in [xml, try binary(xml)] {
            var (read, refused) = (0, 0)
            var random = SeededRandom(seed: 7)
            for length in stride(from: 0, to: whole.count, by: 3) {
                _ = try? PropertyList.read(Array(whole[..<length]))
            }
            for _ in 0..<2000 {
                var bytes = whole
                for _ in 0...Int(random.next() % 3) {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() % 256)
                }
                guard let list = try? PropertyList.read(bytes) else {
                    refused += 1
                    continue
                }
                read += 1
                #expect(!PortedManifest(list, folder: "a", served: []).text.isEmpty)
            }
            #expect(read > 100 && refused > 100)
        }
    }

    @Test func `only an app's list becomes a manifest`() throws {
        func kind(_ body: String) throws -> PortedManifest.Kind {
            PortedManifest.kind(
                of: try PropertyList.read(Array("<plist><dict>\(body)</dict></plist>".utf8))
            )
        }
        let modes = "<key>UIBackgroundModes</key><array/>"
        #expect(try kind(modes) == .app)
        #expect(try kind("<key>CFBundlePackageType</key><string>APPL</string>") == .app)
        #expect(try kind("<key>CFBundlePackageType</key><string>BNDL</string>") == .other)
        #expect(try kind(modes + "<key>WKApplication</key><true/>") == .other)
        #expect(try kind(modes + "<key>NSExtension</key><dict/>") == .appExtension)
    }

    @Test func `whatever a list holds, its manifest is one that lint takes`() throws {
        let nasty = [
            "a\nExec=sh", "[X]", "=;\\", "a;b", "", " ", "é", "%f", "$(X)", "\"q\"", "*", "a*",
            "a b", "-x", "#c", String(repeating: "n", count: 5000),
        ]
        for text in nasty {
            let root: Value = [
                "CFBundleDisplayName": .string(text), "CFBundleExecutable": .string(text),
                "CFBundleIdentifier": .string(text),
                "UIBackgroundModes": ["fetch", .string(text), "fetch", "bluetooth-central"],
                "BGTaskSchedulerPermittedIdentifiers": [
                    .string(text), "ok.id", .string("$(PRODUCT_BUNDLE_IDENTIFIER).a"),
                ],
            ]
            let manifest = PortedManifest(root, folder: text, served: [.fetch])
            let result = ManifestParser.parse(
                text: manifest.text,
                id: AppID("a"),
                file: "/a.desktop",
                home: "/home/a"
            )
            guard case .app(let app, let warnings) = result else {
                Issue.record("\(text.quoted): \(result)\n\(manifest.text)")
                continue
            }
            #expect(warnings == [], "\(manifest.text)")
            #expect(app.modes == [.fetch, .bluetooth])
            #expect(app.permittedTaskIdentifiers.count == manifest.identifiers.count)
            #expect(app.exec?.count == 1, "\(manifest.text)")
        }
    }
}
