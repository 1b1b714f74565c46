import DeviceCore
import Linux
import Vocabulary

/// What is wrong with a manifest on this machine, beside what its text shows.
struct MachineLint {
    let settings: Settings
    private let searchPath = CurrentProcess.environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"

    init(settings: Settings) { self.settings = settings }

    /// The result with what is found added to it.
    func check(_ result: ManifestResult) -> ManifestResult {
        switch result {
        case .notAnApp, .invalid: return result
        case .app(let manifest, let warnings):
            // As the daemon has it: what is not installed is no app.
            if let program = manifest.tryExec, !isInstalled(program) {
                return .invalid(
                    warnings + [
                        Diagnostic(
                            .error,
                            key: "TryExec",
                            value: program,
                            reason: "is not installed",
                            fix: "Install it, or remove the line."
                        )
                    ]
                )
            }
            return .app(
                manifest,
                warnings: warnings + programs(manifest) + modes(manifest) + use(manifest)
                    + limits(manifest) + identifiers(manifest)
            )
        }
    }

    private func isInstalled(_ program: String) -> Bool {
        Files.executable(program, searchPath: searchPath).map(Files.isExecutable) ?? false
    }

    private func warning(
        _ key: String,
        _ value: String?,
        _ reason: String,
        _ fix: String
    ) -> Diagnostic {
        Diagnostic(.warning, key: key, value: value, reason: reason, fix: fix)
    }

    private func programs(_ manifest: AppManifest) -> [Diagnostic] {
        var commands: [(key: String, program: String?)] = [
            ("Exec", manifest.exec?.first), ("RefreshCommand", manifest.refreshCommand?.first),
            ("ProcessingCommand", manifest.processingCommand?.first),
            ("FailedFrom", manifest.failedFrom?.first),
        ]
        if case .command(let command) = manifest.newDataFrom {
            commands.append(("NewDataFrom", command.first))
        }
        if case .exec(let path)? = manifest.useFrom { commands.append(("UseFrom", path)) }
        commands += manifest.extensions.map { ("Extensions", $0) }
        return commands.compactMap { key, program in
            guard let program, !isInstalled(program) else { return nil }
            if program.contains("/") {
                let isThere = Files.exists(program)
                return warning(
                    key,
                    program,
                    isThere ? "is not executable" : "is not there",
                    isThere ? "chmod +x \(program)" : "Install it, or correct the path."
                )
            }
            return warning(key, program, "is not in PATH", "Install it, or write its whole path.")
        }
    }

    private func modes(_ manifest: AppManifest) -> [Diagnostic] {
        if manifest.modes.isEmpty {
            return [
                warning(
                    "BackgroundModes",
                    nil,
                    "names no mode, so nothing runs in the background",
                    "\"offstage modes\" says which mode is for what."
                )
            ]
        }
        // A program that speaks to the daemon asks for its work itself.
        let speaks =
            manifest.exec != nil && manifest.refreshCommand == nil
            && manifest.processingCommand == nil
        let submits = speaks && !manifest.permittedTaskIdentifiers.isEmpty
        return manifest.modes.compactMap { mode in
            guard mode.isServed else {
                return warning(
                    "BackgroundModes",
                    mode.rawValue,
                    "has no effect in this version",
                    "\"offstage modes\" lists the modes that work."
                )
            }
            if mode.description.hasWakeRules {
                guard !manifest.wakeOn.contains(where: { $0.mode == mode }) else { return nil }
                return unused(mode, "WakeOn-\(mode.rawValue)")
            }
            switch mode {
            case .fetch where manifest.refreshCommand == nil && !speaks:
                return unused(mode, "RefreshCommand")
            case .processing where manifest.processingCommand == nil && !submits:
                return unused(mode, "ProcessingCommand")
            default: return nil
            }
        }
    }

    private func unused(_ mode: BackgroundMode, _ key: String) -> Diagnostic {
        warning(
            "BackgroundModes",
            mode.rawValue,
            "has no effect, nothing uses it",
            "Add \(key), or remove the mode."
        )
    }

    /// Of a program that speaks to the daemon its use is known.
    private func use(_ manifest: AppManifest) -> [Diagnostic] {
        guard manifest.refreshCommand != nil, manifest.useFrom == nil else { return [] }
        // With arguments it may be an interpreter, as which others run too.
        let program = manifest.exec.flatMap { $0.count == 1 ? $0.first : nil }.flatMap {
            Files.executable($0, searchPath: searchPath)
        }
        return [
            warning(
                "UseFrom",
                nil,
                "is missing, so refreshes do not go by when the app is used: they are spread over "
                    + "the waking hours",
                "Write the program that its user starts: UseFrom=exec:"
                    + (program ?? "/path/of/PROGRAM")
            )
        ]
    }

    private func limits(_ manifest: AppManifest) -> [Diagnostic] {
        var found: [Diagnostic] = []
        if let limit = manifest.memoryLimit, limit > settings.memoryLimit {
            found.append(
                warning(
                    "MemoryLimit",
                    ByteSize.text(limit),
                    "is more than memory-limit allows (\(ByteSize.text(settings.memoryLimit)))",
                    "Lower it, or raise memory-limit with \"offstage set\"."
                )
            )
        }
        if let timeout = manifest.stopTimeout, timeout > settings.stopTimeout {
            found.append(
                warning(
                    "StopTimeout",
                    timeout.description,
                    "is more than stop-timeout allows (\(settings.stopTimeout))",
                    "Lower it, or raise stop-timeout with \"offstage set\"."
                )
            )
        }
        return found
    }

    private func identifiers(_ manifest: AppManifest) -> [Diagnostic] {
        var found: [Diagnostic] = []
        let isPlain = manifest.id.name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        if !isPlain {
            found.append(
                Diagnostic(
                    .warning,
                    value: manifest.id.name,
                    reason: "is the app's id, and has to be quoted in every command",
                    fix: "Rename the file: use only letters, digits, -, _ and ."
                )
            )
        }
        for name in manifest.permittedTaskIdentifiers where TaskKind(rawValue: name) != nil {
            found.append(
                warning(
                    "PermittedTaskIdentifiers",
                    name,
                    "is what the manifest's own command is called",
                    "Choose another, such as \(manifest.id.name).\(name)."
                )
            )
        }
        return found
    }
}
