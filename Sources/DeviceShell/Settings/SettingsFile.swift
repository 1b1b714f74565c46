internal import DeviceCore
internal import Linux
internal import Vocabulary

/// `offstage.conf`: the only place where settings are kept. The command line changes one line of
/// it, and everything else in it stays.
enum SettingsFile {
    /// The defaults when there is no file, with the text that they were read from.
    /// `administrator`: what stands above it.
    static func read(
        _ path: String,
        administrator: ConfigurationText = ConfigurationText()
    ) -> Result<(settings: Settings, text: String), SettingsText.Invalid> {
        do throws(SettingsText.Invalid) {
            let text = try text(path)
            let settings = try SettingsText.parse(text, administrator: administrator)
            return .success((settings, text.text))
        } catch {
            return .failure(error)
        }
    }

    /// What the administrator has set; nothing when there is no file.
    static func readAdministrator(
        _ path: String
    ) -> Result<ConfigurationText, SettingsText.Invalid> {
        do throws(SettingsText.Invalid) {
            return .success(try SettingsText.administrator(try text(path)))
        } catch {
            return .failure(error)
        }
    }

    private static func text(_ path: String) throws(SettingsText.Invalid) -> ConfigurationText {
        do throws(Diagnostic) {
            return try ConfigurationText(file: path)
        } catch {
            throw SettingsText.Invalid([error])
        }
    }

    /// Changes one setting in the file, of one app or of all, after checking it; `default` takes it
    /// out. The file is replaced as a whole: a crash leaves the old or the new one.
    static func set(
        _ name: String,
        to value: String,
        app: AppID?,
        in path: String,
        administrator: ConfigurationText = ConfigurationText()
    ) throws(Refusal) {
        var before = ConfigurationText()
        do throws(SettingsText.Invalid) {
            before = try text(path)
            var content = before
            do throws(Diagnostic) {
                let section = SettingsText.section(of: app)
                let isKnown = SettingRow.table.contains { $0.name == name }
                if isKnown, value == SettingRow.default {
                    try content.remove(name, section: section)
                    try content.removeEmptySection(section)
                } else {
                    try content.set(name, section: section, to: value)
                }
            } catch {
                throw SettingsText.Invalid([error])
            }
            _ = try SettingsText.parse(content, administrator: administrator)
            try write(content.text, to: path)
        } catch {
            if let damage = damage(of: before, administrator, amid: error) {
                throw Refusal(
                    .storage,
                    reason: "\(path): \(damage.withoutFix); \(name) was not changed",
                    fix: damage.fix
                )
            }
            throw Refusal(error, path)
        }
    }

    /// What was wrong in the file already, if that is what `invalid` is about.
    private static func damage(
        of text: ConfigurationText,
        _ administrator: ConfigurationText,
        amid invalid: SettingsText.Invalid
    ) -> Diagnostic? {
        guard let first = invalid.diagnostics.first else { return nil }
        do throws(SettingsText.Invalid) {
            _ = try SettingsText.parse(text, administrator: administrator)
            return nil
        } catch {
            // A new line may have moved it.
            return error.diagnostics.first {
                ($0.key, $0.value, $0.reason) == (first.key, first.value, first.reason)
            }
        }
    }

    private static func write(
        _ text: String,
        to path: String
    ) throws(SettingsText.Invalid) {
        // Through links, as they are kept by those who keep such files elsewhere.
        let path = Files.resolved(path) ?? path
        let permissions = Files.status(path)?.permissions ?? 0o600
        do throws(LinuxError) {
            try Files.makeDirectory(Files.directory(of: path), parents: true)
            try Files.replace(path, with: text, permissions: permissions)
        } catch {
            throw SettingsText.Invalid([
                Diagnostic(.error, reason: "cannot be written: \(error)", fix: "Free some space.")
            ])
        }
    }
}

extension Diagnostic {
    /// `line 9: RefreshInterval: "soon" is not a time`
    fileprivate var withoutFix: String {
        var copy = self
        copy.fix = ""
        return String(copy.description.dropLast())
    }
}

extension Refusal {
    fileprivate init(_ invalid: SettingsText.Invalid, _ path: String) {
        let first = invalid.diagnostics.first
        let isDisk = first?.line == nil && first?.key == nil
        self.init(
            isDisk ? .storage : .invalid,
            reason: first.map { "\($0.key.map { "\($0) " } ?? "")\($0.reason)" } ?? "invalid",
            value: first?.value ?? "",
            fix: first?.fix ?? path
        )
    }
}
