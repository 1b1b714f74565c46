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
        package var mustChange: Bool
    }

    private static let modesKey = "UIBackgroundModes"
    private static let identifiersKey = "BGTaskSchedulerPermittedIdentifiers"
    private static let schemesKey = "CFBundleURLSchemes"

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
        // An app of a watch runs nowhere else.
        if map["WKApplication"] != nil || map["WKWatchKitApp"] != nil { return .other }
        let keys = [
            modesKey, identifiersKey, "LSRequiresIPhoneOS", "UILaunchStoryboardName",
            "UIApplicationSceneManifest",
        ]
        let isApp = keys.contains { map[$0] != nil }
        return isApp || map["CFBundlePackageType"]?.stringValue == "APPL" ? .app : .other
    }

    package init(_ root: Value, folder: String, served: Set<BackgroundMode>) {
        self.init(PropertyList(root: root), folder: folder, served: served)
    }

    /// `folder`: the name of the directory that holds the list, for what the list leaves to
    /// Xcode. `served`: modes that work in this version. `bundle`: what the project says the
    /// app's identifier is.
    package init(
        _ list: PropertyList,
        folder: String,
        served: Set<BackgroundMode>,
        bundle: String? = nil
    ) {
        func literal(_ key: String) -> String? {
            guard let text = list.root[key]?.stringValue, !text.isEmpty, !Self.isVariable(text)
            else { return nil }
            return text
        }
        let display = literal("CFBundleDisplayName") ?? literal("CFBundleName")
        let executable = literal("CFBundleExecutable")
        let name = display ?? executable ?? folder
        self.name = name.isEmpty ? "App" : name
        program = Self.program(executable ?? display ?? folder)
        var notes: [Note] = []
        if display == nil, executable == nil {
            notes.append(
                Note(
                    key: "CFBundleName",
                    value: list.root["CFBundleName"]?.stringValue ?? "",
                    line: nil,
                    state: .differs,
                    text: "Its value is known to Xcode only, so the manifest has the name of the "
                        + "directory as Name and Exec.",
                    replacement: "Look whether Name and Exec are right.",
                    mustChange: false
                )
            )
        }
        modes = Self.modes(list, served, &notes)
        identifiers = Self.identifiers(list, bundle ?? literal("CFBundleIdentifier"), &notes)
        self.notes = notes + Self.schemes(list)
    }

    private static func modes(
        _ list: PropertyList,
        _ served: Set<BackgroundMode>,
        _ notes: inout [Note]
    ) -> [BackgroundMode] {
        let lines = list.lines(behind: modesKey)
        var modes: Set<BackgroundMode> = []
        var known: Set<String> = []
        for text in strings(list.root[modesKey]) where known.insert(text).inserted {
            let mode = BackgroundMode(name: text)
            if let mode { modes.insert(mode) }
            guard mode.map({ !served.contains($0) }) ?? true else { continue }
            notes.append(
                Note(
                    key: modesKey,
                    value: text,
                    line: lines[text],
                    state: mode == nil ? .never : .notYet,
                    text: mode == nil
                        ? "There is no such mode." : "The mode has no effect in this version.",
                    replacement: mode == nil
                        ? "\"offstage modes\" lists the modes."
                        : "The manifest has it; do not rely on it.",
                    mustChange: false
                )
            )
        }
        return BackgroundMode.allCases.filter(modes.contains)
    }

    /// No list of a manifest has more elements.
    private static let identifiersLimit = 1000
    /// How many bytes the identifiers may have together, with what else a manifest has.
    private static let identifierBytes = ManifestParser.limit - 4096

    private static func identifiers(
        _ list: PropertyList,
        _ bundle: String?,
        _ notes: inout [Note]
    ) -> [String] {
        let lines = list.lines(behind: identifiersKey)
        var identifiers: [String] = []
        var known: Set<String> = []
        var bytes = 0
        for text in strings(list.root[identifiersKey]) {
            let whole = resolved(text, bundle: bundle)
            guard known.insert(whole).inserted else { continue }
            let isGood = !isVariable(whole) && isPlain(whole)
            let hasRoom =
                identifiers.count < identifiersLimit
                && bytes + whole.utf8.count < identifierBytes
            if isGood, hasRoom {
                bytes += whole.utf8.count + 1
                identifiers.append(whole)
                continue
            }
            notes.append(
                Note(
                    key: identifiersKey,
                    value: text,
                    line: lines[text],
                    state: .differs,
                    text: isGood
                        ? "The manifest has no room for it."
                        : isVariable(whole)
                            ? "Its value is known to Xcode only, so the manifest does not have it."
                            : "It is no identifier for a manifest, which does not have it.",
                    replacement: isGood
                        ? "Use fewer, with a * at the end of one that stands for several."
                        : "Add its value to PermittedTaskIdentifiers.",
                    mustChange: true
                )
            )
        }
        return identifiers
    }

    /// Schemes of addresses that the app opens. The manifest does not have them: for an address a
    /// desktop would start `Exec` itself, and the daemon would not know of it.
    private static func schemes(_ list: PropertyList) -> [Note] {
        let lines = list.lines(behind: schemesKey)
        var known: Set<String> = []
        let types = list.root["CFBundleURLTypes"]?.listValue ?? []
        return types.flatMap { strings($0[schemesKey]) }.filter { known.insert($0).inserted }.map {
            Note(
                key: schemesKey,
                value: $0,
                line: lines[$0],
                state: .differs,
                text: "Addresses come by \"offstage open --url\"; the manifest has no schemes.",
                replacement: "For a desktop, write a second desktop file with Exec=offstage open "
                    + "--url %u APP and MimeType=x-scheme-handler/\($0);",
                mustChange: false
            )
        }
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
            // No control character, nor what ends a line elsewhere.
            case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}": escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        while escaped.first == " " { escaped.removeFirst() }
        return escaped.isEmpty ? "App" : escaped
    }
}
