import Linux
import PortCore
import Testing
import Vocabulary

/// What a project of Xcode says of its app's identifier.
struct XcodeProjectTests {
    private static let folder = FixtureTests.root + "/FuzzTesting/Corpus/FuzzXcodeProject/"

    @Test(
        arguments: [
            ("app-and-tests", "io.tidewatch.app"), ("quoted", "io.tide-watch.app"),
            ("one-line", "a.b"), ("two-values", nil), ("variable", nil),
        ] as [(String, String?)]
    )
    func `an app's identifier is told where it is the only one`(
        name: String,
        only: String?
    ) throws {
        let identifiers = try XcodeProject.identifiers(try Files.read(Self.folder + name))
        #expect(!identifiers.isEmpty)
        #expect(XcodeProject.only(identifiers) == only, "\(identifiers)")
    }

    /// A project with targets of these kinds, and settings of the configuration of each.
    private func only(_ targets: (kind: String, settings: String)...) throws -> String? {
        let objects = targets.enumerated().map { number, target in
            """
            t\(number) = { isa = PBXNativeTarget; buildConfigurationList = l\(number);
                productType = "com.apple.product-type.\(target.kind)"; };
            l\(number) = { buildConfigurations = (c\(number), ); };
            c\(number) = { buildSettings = { \(target.settings) }; };
            """
        }
        let text = "{ objects = { \(objects.joined(separator: "\n")) }; }"
        return XcodeProject.only(try XcodeProject.identifiers(Array(text.utf8)))
    }

    @Test func `only apps for iOS count`() throws {
        let app = ("application", "PRODUCT_BUNDLE_IDENTIFIER = a.b;")
        let other = "PRODUCT_BUNDLE_IDENTIFIER = c.d;"
        #expect(try only(app, app) == "a.b")
        #expect(try only(app, ("bundle.unit-test", other), ("app-extension", other)) == "a.b")
        #expect(try only(app, ("application", other + " SDKROOT = watchos;")) == "a.b")
        #expect(try only(app, ("application", other)) == nil)
        #expect(try only(app, ("application", "")) == nil, "another file has its value")
        #expect(try only(("bundle.unit-test", other)) == nil)
        #expect(try only() == nil)
    }

    @Test(
        arguments: [
            ("", 1, "does not begin"), ("{\n a = b }", 2, "no ;"), ("{ a b; }", 1, "no ="),
            ("{ a = ; }", 1, "no value"), ("{ a = (b c); }", 1, "no ,"), ("{ a = \"b", 1, "a text"),
            ("{ a = \"\\", 1, "a text"), ("{\n\n/* a", 3, "a comment"), ("{}\n}", 2, "behind"),
            ("{ a = " + String(repeating: "(", count: 1000), 1, "too deep"),
        ]
    )
    func `what is wrong with one is said`(text: String, line: Int, reason: String) {
        do throws(PropertyList.Mistake) {
            let found = try XcodeProject.identifiers(Array(text.utf8))
            Issue.record("\(text) has \(found)")
        } catch {
            #expect(error.line == line && error.reason.contains(reason), "\(text): \(error)")
        }
    }

    /// The files of a project come in any order, and one that cannot be read takes nothing away.
    @Test(arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    func `the manifest has identifiers that begin with the app's`(order: [Int]) throws {
        let list = """
            <plist><dict><key>BGTaskSchedulerPermittedIdentifiers</key>
            <array><string>$(PRODUCT_BUNDLE_IDENTIFIER).reindex</string></array>
            <key>CFBundleIdentifier</key><string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>
            <key>UIBackgroundModes</key><array/></dict></plist>
            """
        var project = PortedProject(served: [])
        let good = try Files.read(Self.folder + "app-and-tests")
        for file in order {
            switch file {
            case 0: project.addPropertyList(Array(list.utf8), file: "Info.plist", folder: "a")
            case 1: project.addXcodeProject(good, file: "project.pbxproj")
            default: project.addXcodeProject(Array("{".utf8), file: "b/project.pbxproj")
            }
        }
        let manifest = try #require(project.manifests.first).manifest
        #expect(manifest.identifiers == ["io.tidewatch.app.reindex"])
        #expect(!manifest.notes.contains(where: \.mustChange) && project.isPorted)
        #expect(project.unread.map(\.file) == ["b/project.pbxproj"])
    }
}
