/// What a desktop entry file says to Offstage.
package enum ManifestResult: Hashable, Sendable {
    /// No `[X-Offstage]` group, or hidden: none of our business, however odd the file is.
    case notAnApp
    /// An app; the warnings are for `offstage lint`.
    case app(AppManifest, warnings: [Diagnostic])
    /// Meant for Offstage, but not to be used; at least one is an error.
    case invalid([Diagnostic])
}

/// Reads the manifests of apps. Never traps, whatever the file.
package enum ManifestParser {
    /// The most bytes that a manifest may have.
    package static let limit = 64 * 1024
    /// The most bytes that are read of a file, so as to say that it is too large. More than that is
    /// no desktop entry.
    package static let readLimit = 16 << 20

    /// Reads `text`, found in `file`, as the manifest of `id`; `home` is what `~` stands for.
    package static func parse(
        text: String,
        id: AppID,
        file: String,
        home: String
    ) -> ManifestResult {
        // Most desktop entries are not ours; they are told apart without reading them.
        guard mentionsUs(text.utf8.span) else { return .notAnApp }
        guard text.utf8.count <= limit else { return tooLarge(text.utf8.count) }
        let desktop = DesktopFile(text)
        guard let ours = desktop.ours else {
            guard let misspelt = desktop.misspelt, misspelt.isOurs else { return .notAnApp }
            return .invalid([Diagnostic(.error, misspelt)])
        }
        if desktop.entry?["Hidden"]?.value == "true" { return .notAnApp }
        var reading = ManifestReading(
            manifest: AppManifest(id: id, name: id.name, file: file),
            diagnostics: desktop.diagnostics,
            home: home
        )
        if let misspelt = desktop.misspelt {
            reading.diagnostics.append(Diagnostic(.warning, misspelt))
        }
        reading.readEntry(desktop.entry)
        reading.readOurs(ours)
        return reading.result
    }

    /// The same for the bytes of a file, which must be UTF-8.
    package static func parse(
        bytes: [UInt8],
        id: AppID,
        file: String,
        home: String
    ) -> ManifestResult {
        guard mentionsUs(bytes.span) else { return .notAnApp }
        guard bytes.count <= limit else { return tooLarge(bytes.count) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .invalid([.notText(bytes)])
        }
        return parse(text: text, id: id, file: file, home: home)
    }

    /// Why a file is `.notAnApp`: what to say to somebody who meant it to be one.
    package static func reasonForNoApp(bytes: [UInt8]) -> Diagnostic {
        let desktop = DesktopFile(String(decoding: bytes.prefix(limit), as: UTF8.self))
        if desktop.ours != nil, let hidden = desktop.entry?["Hidden"], hidden.value == "true" {
            return Diagnostic(
                .error,
                line: hidden.line,
                reason: "the entry is hidden (Hidden=true)",
                fix: "Remove that line."
            )
        }
        if desktop.ours == nil, let misspelt = desktop.misspelt {
            return Diagnostic(.error, misspelt)
        }
        return Diagnostic(
            .error,
            reason: "there is no group [\(DesktopFile.ourGroup)]",
            fix: "Add the group; \"man offstage\" has its keys."
        )
    }

    private static func tooLarge(_ count: Int) -> ManifestResult {
        .invalid([
            Diagnostic(
                .error,
                reason: "the file has \(count) bytes; at most \(limit) are read",
                fix: "Remove translations or comments."
            )
        ])
    }

    private static let header = Array("[\(DesktopFile.ourGroup)]".utf8)

    /// Whether some line may be the header of our group, in capital or small letters.
    private static func mentionsUs(_ bytes: Span<UInt8>) -> Bool {
        let header = header.map { $0 | 0x20 }
        var start = 0
        while start + header.count <= bytes.count {
            if bytes[start] | 0x20 == header[0], start == 0 || bytes[start - 1] <= 0x20,
                header.indices.allSatisfy({ bytes[start + $0] | 0x20 == header[$0] })
            {
                return true
            }
            start += 1
        }
        return false
    }
}

/// A manifest as far as it has been read.
private struct ManifestReading {
    var manifest: AppManifest
    var diagnostics: [Diagnostic]
    let home: String

    var result: ManifestResult {
        let sorted = diagnostics.sorted { $0.line ?? 0 < $1.line ?? 0 }
        let hasErrors = sorted.contains { $0.severity == .error }
        return hasErrors ? .invalid(sorted) : .app(manifest, warnings: sorted)
    }

    // MARK: [Desktop Entry]

    mutating func readEntry(_ group: DesktopFile.Group?) {
        guard let group else {
            return report(
                .error,
                nil,
                Problem(
                    "there is no group [\(DesktopFile.entryGroup)]",
                    fix: "Begin the file with it, and give it Type, Name and Exec."
                )
            )
        }
        if group["Type"]?.value != "Application" {
            let problem = Problem("is not Application", fix: "Write Type=Application.")
            let missing = Problem("Type is missing", fix: "Write Type=Application.")
            report(
                .error,
                group["Type"],
                group["Type"] == nil ? missing : problem,
                isRightWithoutComment: group["Type"]?.value.withoutComment == "Application",
                in: group
            )
        }
        if let name = read(group["Name"], { text throws(Problem) in try text.string() }) {
            manifest.name = name
        } else if group["Name"] == nil {
            report(.error, nil, Problem("Name is missing", fix: "Write Name=…."), in: group)
        }
        manifest.terminal = flag(group["Terminal"])
        manifest.noDisplay = flag(group["NoDisplay"])
        manifest.directory = read(group["Path"]) { text throws(Problem) in
            try text.path(try text.string())
        }
        warnOfComment(group["Path"])
        warnOfComment(group["TryExec"])
        manifest.tryExec = read(group["TryExec"]) { text throws(Problem) in
            try text.string().expandingTilde(text.home)
        }
        readExec(group)
    }

    private mutating func readExec(_ group: DesktopFile.Group) {
        let icon = read(group["Icon"]) { text throws(Problem) in try text.string() }
        let codes = CommandText.Codes(
            icon: icon.flatMap { $0.isEmpty ? nil : $0 },
            name: manifest.name,
            file: manifest.file
        )
        let exec = read(group["Exec"]) { text throws(Problem) in
            try CommandText.exec(try text.string(), codes: codes)
        }
        manifest.exec = exec?.arguments
        for warning in exec?.warnings ?? [] {
            let isOfComment =
                warning == .reserved("#") && group["Exec"]?.value.trailingComment != nil
            report(.warning, group["Exec"], warning, isRightWithoutComment: isOfComment)
        }
    }

    /// Absent or odd is false: these keys belong to the desktop, which takes them so.
    private mutating func flag(_ entry: DesktopFile.Entry?) -> Bool {
        guard let entry else { return false }
        let text = DesktopText(raw: entry.value, home: home)
        do throws(Problem) {
            return try text.boolean()
        } catch {
            let isRight = ["true", "false"].contains(entry.value.withoutComment)
            report(.warning, entry, error, isRightWithoutComment: isRight)
            return false
        }
    }

    private mutating func read<Result>(
        _ entry: DesktopFile.Entry?,
        _ body: (DesktopText) throws(Problem) -> Result
    ) -> Result? {
        guard let entry else { return nil }
        do throws(Problem) {
            return try body(DesktopText(raw: entry.value, home: home))
        } catch {
            report(.error, entry, error)
            return nil
        }
    }

    // MARK: [X-Offstage]

    mutating func readOurs(_ group: DesktopFile.Group) {
        var known: [(entry: DesktopFile.Entry, key: ManifestKey)] = []
        for entry in group.entries where diagnostics.count < Diagnostic.limit {
            guard let key = ManifestKey.named(entry.key) else {
                reportUnknown(entry)
                continue
            }
            let text = DesktopText(raw: entry.value, home: home)
            do throws(Problem) {
                try key.apply(text, &manifest)
                known.append((entry, key))
                warnOfComment(entry)
                if key.name == "PermittedTaskIdentifiers" { warnOfCommas(entry) }
            } catch {
                report(.error, entry, error, isRightWithoutComment: isRight(key, entry))
                // What its modes would have been nobody knows; say nothing of those missing.
                if key.name == "BackgroundModes" { manifest.modes = BackgroundMode.allCases }
            }
        }
        for (entry, key) in known {
            checkMode(of: key, entry)
            checkCompanion(of: key, entry, in: group)
        }
        checkStatuses(group)
    }

    /// Whether the value is one that the key may have, but for the comment behind it.
    private func isRight(_ key: ManifestKey, _ entry: DesktopFile.Entry) -> Bool {
        guard entry.value.trailingComment != nil else { return false }
        var manifest = manifest
        do throws(Problem) {
            try key.apply(DesktopText(raw: entry.value.withoutComment, home: home), &manifest)
            return true
        } catch {
            return false
        }
    }

    /// A value that may be anything takes the comment in.
    private mutating func warnOfComment(_ entry: DesktopFile.Entry?) {
        guard let entry, let comment = entry.value.trailingComment else { return }
        report(
            .warning,
            entry,
            Problem("is part of the value", fix: String.commentFix, part: String(comment))
        )
    }

    /// A task may be called anything, but hardly that.
    private mutating func warnOfCommas(_ entry: DesktopFile.Entry) {
        for name in manifest.permittedTaskIdentifiers {
            guard let problem = DesktopText.commas(in: name) else { continue }
            report(.warning, entry, problem)
        }
    }

    private mutating func reportUnknown(_ entry: DesktopFile.Entry) {
        let names = ManifestKey.all.map(\.name)
        let hint = Spelling.hint(
            for: entry.key,
            among: names,
            otherwise: "See the manual for the keys."
        )
        diagnostics.append(
            Diagnostic(
                .warning,
                line: entry.line,
                key: entry.key,
                reason: "is not a key of [\(DesktopFile.ourGroup)], and is ignored",
                fix: hint
            )
        )
    }

    private mutating func checkMode(of key: ManifestKey, _ entry: DesktopFile.Entry) {
        guard !key.modes.isEmpty, !key.modes.contains(where: manifest.modes.contains) else {
            return
        }
        let names = key.modes.map(\.rawValue).joined(separator: " or ")
        diagnostics.append(
            Diagnostic(
                .error,
                line: entry.line,
                key: entry.key,
                reason: "needs the mode \(names)",
                fix: "Add \(key.modes[0].rawValue); to BackgroundModes, or remove this key."
            )
        )
    }

    private mutating func checkCompanion(
        of key: ManifestKey,
        _ entry: DesktopFile.Entry,
        in group: DesktopFile.Group
    ) {
        guard !key.companions.isEmpty, !key.companions.contains(where: { group[$0] != nil }) else {
            return
        }
        let names = key.companions.joined(separator: " or ")
        diagnostics.append(
            Diagnostic(
                .warning,
                line: entry.line,
                key: entry.key,
                reason: "has no effect without \(names)",
                fix: "Add \(key.companions[0]), or remove this key."
            )
        )
    }

    private mutating func checkStatuses(_ group: DesktopFile.Group) {
        guard let entry = group["NoDataExit"] ?? group["RetryExit"],
            let both = manifest.noDataExit.first(where: manifest.retryExit.contains)
        else { return }
        let problem = Problem(
            "has \(both), which also means retry",
            fix: "List it in one of NoDataExit and RetryExit; an empty RetryExit= takes 75 out."
        )
        report(.error, entry, problem)
    }

    private mutating func report(
        _ severity: Diagnostic.Severity,
        _ entry: DesktopFile.Entry?,
        _ problem: Problem,
        isRightWithoutComment: Bool = false,
        in group: DesktopFile.Group? = nil
    ) {
        var problem = problem
        // People write comments at the end of a line; here they are part of the value.
        if isRightWithoutComment {
            problem = Problem(problem.reason, fix: String.commentFix, part: entry?.value)
        } else if entry?.value.trailingComment != nil, !problem.fix.hasSuffix(String.commentFix) {
            let fix = problem.fix.isEmpty ? "" : problem.fix + " "
            problem = Problem(problem.reason, fix: fix + String.commentFix, part: problem.part)
        }
        diagnostics.append(
            Diagnostic(
                severity,
                line: entry?.line ?? group?.line,
                key: entry?.key,
                value: entry.map { problem.part ?? $0.value },
                reason: problem.reason,
                fix: problem.fix
            )
        )
    }
}
