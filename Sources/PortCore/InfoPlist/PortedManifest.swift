package import Vocabulary

/// The manifest that an Info.plist becomes.
package struct PortedManifest: Equatable, Sendable {
    /// As the user sees it.
    package let name: String
    /// What `Exec` starts.
    package let program: String
    /// In the order of the documents.
    package let modes: [BackgroundMode]
    /// Identifiers without variables of Xcode.
    package let identifiers: [String]
    package let notes: [Note]

    /// A value that the manifest does not have, or that has no effect.
    package struct Note: Equatable, Sendable {
        package var key: String
        package var value: String
        package var line: Int?
        package var state: Symbol.State
        package var text: String
        package var replacement: String

        /// Whether the manifest lacks something that only its author can add.
        package var mustChange: Bool { state == .differs }
    }

    private static let modesKey = "UIBackgroundModes"
    private static let identifiersKey = "BGTaskSchedulerPermittedIdentifiers"

    /// What a property list is.
    package enum Kind: Equatable, Sendable {
        case app
        /// Its program is no app of its own.
        case appExtension
        case other
    }

    package static func kind(of list: PropertyList) -> Kind {
        guard case .map(let map) = list.root else { return .other }
        if map["NSExtension"] != nil || map["EXAppExtensionAttributes"] != nil {
            return .appExtension
        }
        let keys = [
            modesKey, identifiersKey, "LSRequiresIPhoneOS", "UILaunchStoryboardName",
            "UIApplicationSceneManifest",
        ]
        let isApp = keys.contains { map[$0] != nil }
        return isApp || map["CFBundlePackageType"]?.stringValue == "APPL" ? .app : .other
    }

    /// `folder`: the name of the directory that holds the list, for what the list leaves to
    /// Xcode. `served`: modes that work in this version.
    package init(_ list: PropertyList, folder: String, served: Set<BackgroundMode>) {
        self.init(list.root, folder: folder, served: served) { list.line(of: $0) }
    }

    package init(
        _ root: Value,
        folder: String,
        served: Set<BackgroundMode>,
        line: (String) -> Int? = { _ in nil }
    ) {
        var notes: [Note] = []
        func literal(_ key: String) -> String? {
            guard let text = root[key]?.stringValue, !text.isEmpty, !Self.isVariable(text)
            else { return nil }
            return text
        }
        let display = literal("CFBundleDisplayName") ?? literal("CFBundleName")
        let executable = literal("CFBundleExecutable")
        let name = display ?? executable ?? folder
        self.name = name.isEmpty ? "App" : name
        program = Self.program(executable ?? display ?? folder)
        let bundle = literal("CFBundleIdentifier")
        var modes: Set<BackgroundMode> = []
        for text in Self.strings(root[Self.modesKey]) {
            let mode = BackgroundMode(name: text)
            if let mode { modes.insert(mode) }
            guard mode.map({ !served.contains($0) }) ?? true else { continue }
            notes.append(
                Note(
                    key: Self.modesKey,
                    value: text,
                    line: line(text),
                    state: mode == nil ? .never : .notYet,
                    text: mode == nil
                        ? "There is no such mode." : "The mode has no effect in this version.",
                    replacement: mode == nil
                        ? "\"offstage modes\" lists the modes."
                        : "The manifest has it; do not rely on it."
                )
            )
        }
        self.modes = BackgroundMode.allCases.filter(modes.contains)
        var identifiers: [String] = []
        for text in Self.strings(root[Self.identifiersKey]) {
            let whole = Self.resolved(text, bundle: bundle)
            if Self.isVariable(whole) || !Self.isPlain(whole) {
                notes.append(
                    Note(
                        key: Self.identifiersKey,
                        value: text,
                        line: line(text),
                        state: .differs,
                        text: "Its value is known to Xcode only, so the manifest does not have it.",
                        replacement: "Add its value to PermittedTaskIdentifiers."
                    )
                )
            } else if !identifiers.contains(whole) {
                identifiers.append(whole)
            }
        }
        self.identifiers = identifiers
        self.notes = notes
    }

    /// Whether it holds a variable of Xcode's: `$(PRODUCT_NAME)`.
    private static func isVariable(_ text: String) -> Bool {
        text.contains("$(") || text.contains("${")
    }

    /// An identifier as manifests have them: a * only at the end.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 200 && !text.dropLast().contains("*")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }
            && !text.contains("\\")
    }

    /// With the variable of the bundle's identifier replaced, which most identifiers begin with.
    private static func resolved(_ text: String, bundle: String?) -> String {
        guard let bundle else { return text }
        return text.replacing("$(PRODUCT_BUNDLE_IDENTIFIER)", with: bundle)
            .replacing("${PRODUCT_BUNDLE_IDENTIFIER}", with: bundle)
    }

    private static func strings(_ value: Value?) -> [String] {
        if let text = value?.stringValue { return [text] }
        return value?.listValue?.compactMap(\.stringValue) ?? []
    }

    /// A name that a shell and a desktop entry take as it is.
    private static func program(_ text: String) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_": name.unicodeScalars.append(scalar)
            case " ", ".", "-": if !name.isEmpty, name.last != "-" { name += "-" }
            default: break
            }
        }
        while name.last == "-" { name.removeLast() }
        return name.isEmpty ? "app" : String(name.lowercased().prefix(60))
    }

    /// The desktop file.
    package var text: String {
        var lines = [
            "[Desktop Entry]", "Type=Application", "Name=\(Self.escaped(name))",
            "Exec=\(program)", "NoDisplay=true", "", "[X-Offstage]",
        ]
        if !modes.isEmpty {
            lines.append("BackgroundModes=" + modes.map { $0.rawValue + ";" }.joined())
        }
        if !identifiers.isEmpty {
            lines.append("PermittedTaskIdentifiers=" + identifiers.map { $0 + ";" }.joined())
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// As a value of a desktop entry: one line.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n", "\r", "\t", "\0": escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        while escaped.first == " " { escaped.removeFirst() }
        return escaped.isEmpty ? "App" : escaped
    }
}
