import Vocabulary

/// What holds for each parser, whatever the bytes. Each answers what is broken, or nil. The fuzz
/// targets and the tests share this file.
package enum ParserProperties {
    package typealias Property = @Sendable ([UInt8]) -> String?

    /// By the name of the fuzz target and its corpus.
    package static let all: [(name: String, property: Property)] = [
        ("FuzzValueBytes", valueBytes), ("FuzzJSON", json), ("FuzzManifest", manifest),
        ("FuzzCommand", command), ("FuzzConfiguration", configuration),
    ]

    /// Bytes that decode are the only bytes of what they decode to.
    @Sendable package static func valueBytes(_ bytes: [UInt8]) -> String? {
        guard let value = try? ValueBytes.decode(bytes) else { return nil }
        if ValueBytes.encode(value) != bytes { return "\(value) has other bytes" }
        if value.json().isEmpty { return "no JSON" }
        _ = try? ValueDecoder().decode(AppManifest.self, from: value)
        return nil
    }

    /// Text that is read comes back from how it is written.
    @Sendable package static func json(_ bytes: [UInt8]) -> String? {
        guard let value = try? ValueJSON.parse(bytes) else { return nil }
        for pretty in [false, true] {
            // What is written may be longer than what was read.
            let back = try? ValueJSON.parse(value.json(pretty: pretty), limit: .max)
            if back != value { return "\(value) is read back as \(String(describing: back))" }
        }
        let decoded = try? ValueBytes.decode(ValueBytes.encode(value), limit: .max)
        return decoded == value ? nil : "\(value) has bytes that are not read back"
    }

    /// A manifest is read, or refused with a reason; what is read can be stored.
    @Sendable package static func manifest(_ bytes: [UInt8]) -> String? {
        switch parse(bytes) {
        case .notAnApp: return nil
        case .app(let manifest, let warnings):
            if warnings.contains(where: { $0.severity == .error }) { return "taken with errors" }
            let value = try? ValueEncoder().encode(manifest)
            let back = value.flatMap { try? ValueDecoder().decode(AppManifest.self, from: $0) }
            return back == manifest ? nil : "\(manifest) is not read back"
        case .invalid(let diagnostics):
            return diagnostics.contains { $0.severity == .error } ? nil : "refused without a reason"
        }
    }

    /// Commands, `Exec` and ours, and the other keys with a syntax of their own: never an empty
    /// argument list, never a program that is a relative path.
    @Sendable package static func command(_ bytes: [UInt8]) -> String? {
        let value = bytes.prefix { $0 != UInt8(ascii: "\n") }
        for key in ["Exec", "RefreshCommand", "NewDataFrom", "Environment", "WakeOn-health"] {
            let line = Array("\(key)=".utf8) + value + [UInt8(ascii: "\n")]
            var text = Array("[Desktop Entry]\nType=Application\nName=A\n".utf8)
            if key == "Exec" { text += line }
            text += Array("[X-Offstage]\nBackgroundModes=fetch;health;\n".utf8)
            if key != "Exec" { text += line }
            guard case .app(let manifest, _) = parse(text) else { continue }
            if let exec = manifest.exec, exec.first?.isEmpty != false { return "Exec of nothing" }
            if let program = manifest.refreshCommand?.first {
                let isPath = program.utf8.contains(UInt8(ascii: "/"))
                if program.isEmpty || isPath && program.utf8.first != UInt8(ascii: "/") {
                    return "the program \(program)"
                }
            }
            if manifest.environment.contains(where: \.name.isEmpty) { return "no name" }
        }
        return nil
    }

    /// What is set is read back, and nothing else changes.
    @Sendable package static func configuration(_ bytes: [UInt8]) -> String? {
        let before = ConfigurationText(bytes: bytes)
        for section in ["", "s"] {
            var after = before
            guard (try? after.set("a", section: section, to: "new value")) != nil else { continue }
            if after["a", section: section]?.value != "new value" { return "not set" }
            let others = before.entries.filter { $0.name != "a" || $0.section != section }
            for entry in others {
                let now = after[entry.name, section: entry.section]
                if now?.value != entry.value { return "\(entry) became \(String(describing: now))" }
            }
            if after.entries.count != others.count + 1 { return "more entries than before" }
            if ConfigurationText(after.text) != after { return "not what is in the text" }
        }
        return nil
    }

    private static func parse(_ bytes: [UInt8]) -> ManifestResult {
        ManifestParser.parse(
            bytes: bytes,
            id: AppID("a"),
            file: "/usr/share/applications/a.desktop",
            home: "/home/me"
        )
    }
}
