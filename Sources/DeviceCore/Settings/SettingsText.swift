package import Vocabulary

/// The settings as their file has them: `name = value`, and a section `[app ID]` for each app
/// with settings of its own.
package enum SettingsText {
    /// What is wrong with a text; at least one diagnostic.
    package struct Invalid: Error, Hashable, Sendable {
        package var diagnostics: [Diagnostic]

        package init(_ diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }
    }

    /// Where the administrator's stand, above each user's own.
    package static let administratorPath = "/etc/offstage/offstage.conf"

    private static let appPrefix = "app "
    static let appSetting = "background-refresh"

    /// The section of an app's own settings.
    package static func section(of app: AppID?) -> String {
        app.map { appPrefix + $0.name } ?? ""
    }

    /// All or nothing.
    ///
    /// `administrator`: what the user cannot change; valid by itself.
    package static func parse(
        _ text: ConfigurationText,
        administrator: ConfigurationText = ConfigurationText()
    ) throws(Invalid) -> Settings {
        var settings = Settings()
        var problems = text.diagnostics
        // A profile changes defaults, wherever in the file it stands.
        if let profile = administrator["profile"] ?? text["profile"] {
            apply(profile: profile.value, to: &settings)
        }
        for entry in text.entries {
            if var problem = set(entry, in: &settings) {
                problem.line = entry.line
                problems.append(problem)
            }
        }
        for entry in administrator.entries where set(entry, in: &settings) == nil {
            settings.enforced.append(EnforcedSetting(name: entry.name, app: app(entry.section)))
        }
        settings.apps.sort { $0.app < $1.app }
        if problems.isEmpty { problems = warningsTooLong(settings, text) }
        guard problems.isEmpty else { throw Invalid(problems) }
        return settings
    }

    /// Those of a text that was valid by itself: what the administrator's contradict gives way, and
    /// nothing else.
    package static func parse(
        _ text: ConfigurationText,
        yieldingTo administrator: ConfigurationText
    ) -> Settings {
        var text = text
        while true {
            do throws(Invalid) {
                return try parse(text, administrator: administrator)
            } catch {
                let lines = error.diagnostics.compactMap(\.line)
                guard let entry = text.entries.first(where: { lines.contains($0.line) }),
                    (try? text.remove(entry.name, section: entry.section)) != nil
                else { return (try? parse(administrator)) ?? Settings() }
            }
        }
    }

    /// A text of the administrator's, valid by itself.
    package static func administrator(
        _ text: ConfigurationText
    ) throws(Invalid) -> ConfigurationText {
        _ = try parse(text)
        return text
    }

    private static func app(_ section: String) -> AppID? {
        guard section.hasPrefix(appPrefix) else { return nil }
        return AppID(String(section.dropFirst(appPrefix.count)))
    }

    /// Nil: it is set.
    private static func set(
        _ entry: ConfigurationText.Entry,
        in settings: inout Settings
    ) -> Diagnostic? {
        if entry.section.isEmpty { return set(entry.name, entry.value, in: &settings) }
        if let app = app(entry.section) {
            return set(entry.name, entry.value, of: app, in: &settings)
        }
        return Diagnostic(
            .error,
            key: entry.name,
            reason: "is in the unknown section [\(entry.section)]",
            fix: "Sections are called [app ID]."
        )
    }

    /// Grants of whose end an app is warned.
    package static let warnedGrants = [
        "finish-up", "wake-grant", "processing-grant", "processing-grant-charging",
    ]

    /// A warning that is as long as its grant would end that as it begins.
    private static func warningsTooLong(
        _ settings: Settings,
        _ text: ConfigurationText
    ) -> [Diagnostic] {
        let warning = settings.expiryWarning
        return warnedGrants.compactMap { name in
            guard case .interval(let path, _) = row(name)?.field,
                settings[keyPath: path] <= warning
            else { return nil }
            let grant = settings[keyPath: path]
            // The line that can be changed: what the file does not say is a default.
            if let entry = text[name] {
                return Diagnostic(
                    .error,
                    line: entry.line,
                    key: name,
                    value: entry.value,
                    reason: "is not longer than expiry-warning, \(warning)",
                    fix: "Write more than \(warning), or a shorter expiry-warning first."
                )
            }
            return Diagnostic(
                .error,
                line: text["expiry-warning"]?.line,
                key: "expiry-warning",
                value: text["expiry-warning"]?.value ?? "\(warning)",
                reason: "is not shorter than \(name), \(grant)",
                fix: "Write less than \(grant), or a longer \(name) first."
            )
        }
    }

    private static func row(_ name: String) -> SettingRow? {
        SettingRow.table.first { $0.name == name }
    }

    private static func apply(profile name: String, to settings: inout Settings) {
        guard let profile = SettingRow.profiles.first(where: { $0.name == name }) else { return }
        for (setting, value) in profile.values {
            _ = row(setting)?.set(value, in: &settings)
        }
    }

    /// Nil: it is set.
    package static func set(
        _ name: String,
        _ value: String,
        in settings: inout Settings
    ) -> Diagnostic? {
        guard let row = row(name) else { return unknown(name) }
        guard row.set(value, in: &settings) else {
            let mistake = row.mistake(in: value)
            var copy = settings
            let isRightWithoutComment =
                value.trailingComment != nil && row.set(value.withoutComment, in: &copy)
            return Diagnostic(
                .error,
                key: name,
                value: value,
                reason: mistake.reason,
                fix: isRightWithoutComment ? String.commentFix : mistake.fix
            )
        }
        return nil
    }

    private static func unknown(_ name: String) -> Diagnostic {
        if let new = SettingRow.name(formerly: name) {
            return Diagnostic(
                .error,
                key: name,
                reason: "is now called \(new)",
                fix: "Write \(new) instead."
            )
        }
        let guess = Spelling.suggestion(for: name, among: SettingRow.table.map(\.name))
        return Diagnostic(
            .error,
            key: name,
            reason: "is not a setting",
            fix: guess.map { "Did you mean \($0)?" } ?? "offstage settings lists them."
        )
    }

    private static func set(
        _ name: String,
        _ value: String,
        of app: AppID,
        in settings: inout Settings
    ) -> Diagnostic? {
        guard name == appSetting else {
            guard row(name) != nil else { return unknown(name) }
            return Diagnostic(
                .error,
                key: name,
                reason: "cannot be set for one app",
                fix: "Only \(appSetting) can be. For all apps, write the line above the first "
                    + "[app NAME]."
            )
        }
        guard let flag = SettingRow.flag(value) else {
            return Diagnostic(
                .error,
                key: name,
                value: value,
                reason: "is not a value of it",
                fix: SettingRow.flag(value.withoutComment) == nil
                    ? "Write on or off." : String.commentFix
            )
        }
        settings.apps.removeAll { $0.app == app }
        var entry = AppSettings(app: app)
        entry.backgroundRefresh = flag
        settings.apps.append(entry)
        return nil
    }
}
