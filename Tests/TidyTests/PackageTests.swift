import Testing

/// The dependencies that Package.swift gives each target, against the table of layers.
struct PackageTests {
    @Test func dependenciesPointDown() throws {
        let manifest = try #require(Tree.current.file("Package.swift"))
        let targets = Self.targets(in: manifest.text)
        #expect(targets.count >= Layers.table.count, "\(targets.map(\.name))")
        for target in targets {
            let allowed = try #require(Layers.table[target.name], "\(target.name) has no layer")
            for dependency in target.dependencies where !allowed.ours.contains(dependency) {
                Issue.record("\(target.name) may not depend on \(dependency)")
            }
        }
    }

    @Test func theTableHasNoCycle() {
        var placed: Set<String> = []
        var left = Layers.table
        while !left.isEmpty {
            let next = left.keys.filter { left[$0]!.ours.isSubset(of: placed) }
            if next.isEmpty {
                Issue.record("cycle among \(left.keys.sorted())")
                return
            }
            placed.formUnion(next)
            for name in next { left[name] = nil }
        }
    }

    @Test func strictnessIsSwitchedOn() throws {
        let manifest = try #require(Tree.current.file("Package.swift"))
        for setting in [
            ".swiftLanguageMode(.v6)", "\"ExistentialAny\"", "\"MemberImportVisibility\"",
            "\"InternalImportsByDefault\"", ".treatAllWarnings(as: .error)",
            ".strictMemorySafety()",
        ] {
            #expect(manifest.text.contains(setting), "\(setting)")
        }
    }

    @Test func anArrowUpwardsIsSeen() {
        let text = """
            layer("Vocabulary", ["DeviceCore"]), layer("DeviceCore"), .target(
                name: "CLinux", dependencies: ["Linux"])
            """
        let targets = Self.targets(in: text)
        #expect(targets.map(\.name) == ["Vocabulary", "DeviceCore", "CLinux"])
        #expect(targets.map(\.dependencies) == [["DeviceCore"], [], ["Linux"]])
    }

    struct Target { var name: String, dependencies: [String] }

    /// The targets below `Sources`, in the order of the manifest.
    static func targets(in manifest: String) -> [Target] {
        let text = SourceText(Array(manifest.utf8))
        let calls = ["layer(", "program(", ".target(", ".systemLibrary("]
        return calls.flatMap { text.places(of: $0) }.sorted().compactMap { place in
            guard let open = text.bytes[place...].firstIndex(of: UInt8(ascii: "(")),
                let end = text.closing(open)
            else { return nil }
            let call = String(decoding: text.bytes[open...end], as: UTF8.self)
            guard !call.contains("path: \"Tests/"), !call.hasPrefix("(_ ") else { return nil }
            var rest = call[...]
            var literals: [String] = []
            while let start = rest.firstIndex(of: "\"") {
                let content = rest[rest.index(after: start)...]
                guard let end = content.firstIndex(of: "\"") else { break }
                // Only the name and the list of dependencies; not settings behind them.
                if rest[..<start].contains("Settings:") || rest[..<start].contains("pkgConfig:") {
                    break
                }
                literals.append(String(content[..<end]))
                rest = content[content.index(after: end)...]
            }
            guard let name = literals.first else { return nil }
            return Target(name: name, dependencies: Array(literals.dropFirst()))
        }
    }
}
