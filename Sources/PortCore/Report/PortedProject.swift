package import Vocabulary

/// A project as it is read, file by file, and what its porter has to know.
package struct PortedProject: Sendable {
    /// What was found at one line of a file.
    package struct Place: Hashable, Sendable {
        package var file: String
        package var finding: Finding
    }

    /// A file or directory that could not be read, and why.
    package struct Unread: Hashable, Sendable {
        package var file: String
        package var reason: String
        /// Whether something may be in it that the report lacks.
        package var isMissed: Bool
    }

    package struct Manifest: Equatable, Sendable {
        package var file: String
        package var manifest: PortedManifest
    }

    private var found: [Place] = []
    private var ownSymbols: Set<Int> = []
    package private(set) var unread: [Unread] = []
    /// What the manifests are made of, one for each.
    private var lists: [(file: String, list: PropertyList, folder: String)] = []
    /// Identifiers of apps that projects of Xcode have.
    private var bundles: Set<String> = []
    package private(set) var sources = 0
    package private(set) var lines = 0
    private let served: Set<BackgroundMode>

    /// `served`: modes that work in this version.
    package init(served: Set<BackgroundMode>) { self.served = served }

    /// A Swift source.
    package mutating func addSource(_ bytes: [UInt8], file: String) {
        guard (try? UTF8Span(validating: bytes.span)) != nil else {
            let start = bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE])
            let reason = start ? "it is UTF-16; write it as UTF-8" : "it is not UTF-8"
            return skip(file, reason)
        }
        sources += 1
        lines += bytes.count { $0 == UInt8(ascii: "\n") }
        let source = SourceReader.read(bytes)
        found += source.findings.map { Place(file: file, finding: $0) }
        ownSymbols.formUnion(source.ownSymbols)
        if !SymbolTable.sessionTypes.isDisjoint(with: source.ownSymbols) {
            ownSymbols.insert(SymbolTable.place("session types without their import"))
        }
    }

    /// A property list of a project; `folder` is the name of its directory.
    package mutating func addPropertyList(_ bytes: [UInt8], file: String, folder: String) {
        do throws(PropertyList.Mistake) {
            let list = try PropertyList.read(bytes)
            guard PortedManifest.kind(of: list) == .app else { return }
            lists.append((file, list, folder))
        } catch {
            skip(file, Self.reason(error))
        }
    }

    /// A project.pbxproj: what it says of an app's identifier counts for every property list.
    package mutating func addXcodeProject(_ bytes: [UInt8], file: String) {
        do throws(PropertyList.Mistake) {
            bundles.formUnion(try XcodeProject.identifiers(bytes))
        } catch {
            // The report then lacks no more than without such a file.
            skip(file, Self.reason(error), isMissed: false)
        }
    }

    /// One for each property list of an app, as it is after all that was read.
    package var manifests: [Manifest] {
        let bundle = XcodeProject.only(bundles)
        return lists.map { file, list, folder in
            let manifest = PortedManifest(list, folder: folder, served: served, bundle: bundle)
            return Manifest(file: file, manifest: manifest)
        }
    }

    private static func reason(_ mistake: PropertyList.Mistake) -> String {
        mistake.line.map { "line \($0): \(mistake.reason)" } ?? mistake.reason
    }

    /// `isMissed`: something of the project may be in it.
    package mutating func skip(_ file: String, _ reason: String, isMissed: Bool = true) {
        unread.append(Unread(file: file, reason: reason, isMissed: isMissed))
    }

    /// Everything found, in the order of the files; without the names of the project's own types.
    package var places: [Place] {
        guard !ownSymbols.isEmpty else { return found }
        return found.filter { place in
            if case .symbol(let symbol) = place.finding.matter {
                !ownSymbols.contains(symbol)
            } else {
                true
            }
        }
    }

    /// How many places have to be changed.
    package var changes: Int {
        places.count { $0.finding.mustChange }
            + manifests.reduce(0) { $0 + $1.manifest.notes.count(where: \.mustChange) }
    }

    /// Whether nothing has to be done.
    package var isPorted: Bool { changes == 0 && !unread.contains(where: \.isMissed) }
}

extension PortedProject {
    /// As `--json` prints it.
    package var value: Value {
        [
            "files": .integer(Int64(sources)), "lines": .integer(Int64(lines)),
            "changes": .integer(Int64(changes)),
            "findings": .list(places.map(Self.value) + manifests.flatMap(Self.notes)),
            "unread": .list(
                unread.map { unread in
                    [
                        "file": .string(unread.file), "reason": .string(unread.reason),
                        "missed": .bool(unread.isMissed),
                    ]
                }
            ),
            "manifests": .list(
                manifests.map { ["file": .string($0.file), "manifest": .string($0.manifest.text)] }
            ),
        ]
    }

    private static func value(_ place: Place) -> Value {
        var fields: ValueMap = [
            "file": .string(place.file), "line": .integer(Int64(place.finding.line)),
            "mustChange": .bool(place.finding.mustChange),
        ]
        switch place.finding.matter {
        case .symbol(let place):
            let symbol = SymbolTable.rows[place]
            fields["symbol"] = .string(symbol.name)
            fields["state"] = .string(symbol.state.rawValue)
            if !symbol.text.isEmpty { fields["text"] = .string(symbol.text) }
            if !symbol.replacement.isEmpty { fields["fix"] = .string(symbol.replacement) }
        case .vanishing(let vanishing):
            fields["symbol"] = .string(vanishing.condition)
            fields["state"] = "vanishes"
            fields["text"] = .string(vanishing.text)
            fields["fix"] = .string(Finding.Vanishing.replacement)
        }
        return .map(fields)
    }

    private static func notes(_ manifest: Manifest) -> [Value] {
        manifest.manifest.notes.map { note in
            var fields: ValueMap = [
                "file": .string(manifest.file), "mustChange": .bool(note.mustChange),
                "symbol": .string("\(note.key): \(note.value)"),
                "state": .string(note.state.rawValue), "text": .string(note.text),
                "fix": .string(note.replacement),
            ]
            if let line = note.line { fields["line"] = .integer(Int64(line)) }
            return .map(fields)
        }
    }
}

extension Finding.Vanishing {
    /// What happens, in words.
    package var text: String {
        let count = lines == 1 ? "1 line vanishes" : "\(lines) lines vanish"
        guard let otherwise else { return "On Linux \(count) without a word." }
        return "On Linux \(count); the branch in line \(otherwise) is compiled instead."
    }

    package static let replacement =
        "Add || os(Linux), or canImport(Offstage), if the code is for Linux too; else write an "
        + "#elseif os(Linux)."
}
