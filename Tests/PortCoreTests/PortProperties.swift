import PortCore
import Vocabulary

/// What holds for the readers of a project, whatever the bytes. Each answers what is broken, or
/// nil. The fuzz targets and the tests share this file.
package enum PortProperties {
    package typealias Property = @Sendable ([UInt8]) -> String?

    /// By the name of the fuzz target and its corpus.
    package static let all: [(name: String, property: Property)] = [
        ("FuzzSwiftSource", source), ("FuzzPropertyList", propertyList),
        ("FuzzXcodeProject", xcodeProject),
    ]

    /// What is found is at a line of the source, in order, once; and a comment before the source
    /// moves it by a line and changes nothing else.
    @Sendable package static func source(_ bytes: [UInt8]) -> String? {
        let found = findings(bytes)
        let ends = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        let lines = 1 + bytes.count { ends.contains($0) }
        if Set(found).count != found.count { return "something is told twice" }
        for (finding, next) in zip(found, found.dropFirst()) where finding.line > next.line {
            return "line \(next.line) is told after \(finding.line)"
        }
        if let finding = found.first(where: { !(1...lines).contains($0.line) }) {
            return "line \(finding.line) of \(lines)"
        }
        // At its beginning a source may have marks that mean something only there.
        guard bytes.first != UInt8(ascii: "#"), bytes.first != 0xEF else { return nil }
        let moved = findings(Array("// \" /* \n".utf8) + bytes)
        let back = moved.map { finding in
            var finding = finding
            finding.line -= 1
            if case .vanishing(var vanishing) = finding.matter {
                vanishing.otherwise = vanishing.otherwise.map { $0 - 1 }
                finding.matter = .vanishing(vanishing)
            }
            return finding
        }
        return back == found ? nil : "a comment before it changes what is found"
    }

    private static func findings(_ bytes: [UInt8]) -> [Finding] {
        var project = PortedProject(served: [.fetch])
        project.addSource(bytes, file: "a.swift")
        _ = project.value.json()
        return project.places.map(\.finding)
    }

    private static let list = """
        <plist><dict><key>BGTaskSchedulerPermittedIdentifiers</key>
        <array><string>$(PRODUCT_BUNDLE_IDENTIFIER).a</string></array>
        <key>UIBackgroundModes</key><array/></dict></plist>
        """

    /// A project is read, or refused with a reason at a line of it; a comment before it changes
    /// nothing; and an identifier that a manifest gets is one that it takes.
    @Sendable package static func xcodeProject(_ bytes: [UInt8]) -> String? {
        let identifiers: Set<String>
        do throws(PropertyList.Mistake) {
            identifiers = try XcodeProject.identifiers(bytes)
        } catch {
            let lines = 1 + bytes.count { $0 == UInt8(ascii: "\n") }
            let isPlace = error.line.map { (1...lines).contains($0) } == true
            return error.reason.isEmpty || !isPlace ? "refused without a reason: \(error)" : nil
        }
        let moved = try? XcodeProject.identifiers(Array("// {\n/* \" */".utf8) + bytes)
        if moved != identifiers { return "a comment before it changes what is found" }
        guard let bundle = XcodeProject.only(identifiers) else { return nil }
        var project = PortedProject(served: [])
        project.addPropertyList(Array(Self.list.utf8), file: "Info.plist", folder: "a")
        project.addXcodeProject(bytes, file: "project.pbxproj")
        let named = project.manifests.first?.manifest.identifiers
        let isTaken = bundle.utf8.count > 198 || named == [bundle + ".a"]
        return isTaken ? nil : "the manifest lacks \(bundle)"
    }

    /// A list is read, or refused with a reason; the manifest of one that is read is taken.
    @Sendable package static func propertyList(_ bytes: [UInt8]) -> String? {
        let list: PropertyList
        do throws(PropertyList.Mistake) {
            list = try PropertyList.read(bytes)
        } catch {
            return error.reason.isEmpty ? "refused without a reason" : nil
        }
        let manifest = PortedManifest(list, folder: "a", served: [.fetch])
        let result = ManifestParser.parse(
            text: manifest.text,
            id: AppID("a"),
            file: "/usr/share/applications/a.desktop",
            home: "/home/me"
        )
        switch result {
        case .app(_, let warnings):
            // An identifier may have a comma. Lint asks whether that was to separate two.
            let others = warnings.filter { !"\($0)".contains("has a comma") }
            return others.isEmpty ? nil : "\(others)"
        case .notAnApp, .invalid: return "\(manifest.text) is \(result)"
        }
    }
}
