package import Vocabulary

/// The settings as their file has them: `name = value`, and a section `[app ID]` for each app
/// with settings of its own.
package enum SettingsText {
    /// What is wrong with a text; at least one diagnostic.
    package struct Invalid: Error, Hashable, Sendable {
        package var diagnostics: [Diagnostic]

        package init(_ diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }
    }

    private static let appPrefix = "app "
    private static let appSetting = "background-refresh"

    /// The section of an app's own settings.
    package static func section(of app: AppID?) -> String {
        app.map { appPrefix + $0.name } ?? ""
    }

    /// All or nothing: one mistake, and the settings in force stay.
    package static func parse(_ text: ConfigurationText) throws(Invalid) -> Settings {
        var settings = Settings()
        var problems = text.diagnostics
        // A profile changes defaults, wherever in the file it stands.
        if let profile = text["profile"] {
            apply(profile: profile.value, to: &settings)
        }
        for entry in text.entries {
            let problem: Diagnostic?
            if entry.section.isEmpty {
                problem = set(entry.name, entry.value, in: &settings)
            } else if entry.section.hasPrefix(appPrefix) {
                let app = AppID(String(entry.section.dropFirst(appPrefix.count)))
                problem = set(entry.name, entry.value, of: app, in: &settings)
            } else {
                problem = Diagnostic(
                    .error,
                    key: entry.name,
                    reason: "stands in the unknown section "
                        + "[\(entry.section)]",
                    fix: "Sections are called [app ID]."
                )
            }
            if var problem {
                problem.line = entry.line
                problems.append(problem)
            }
        }
        settings.apps.sort { $0.app < $1.app }
        guard problems.isEmpty else { throw Invalid(problems) }
        return settings
    }

    private static func apply(profile name: String, to settings: inout Settings) {
        guard let profile = SettingRow.profiles.first(where: { $0.name == name }) else { return }
        for (setting, value) in profile.values {
            _ = SettingRow.table.first { $0.name == setting }?.set(value, in: &settings)
        }
    }

    /// Nil: it is set.
    package static func set(
        _ name: String,
        _ value: String,
        in settings: inout Settings
    ) -> Diagnostic? {
        guard let row = SettingRow.table.first(where: { $0.name == name }) else {
            let guess = Spelling.suggestion(for: name, among: SettingRow.table.map(\.name))
            return Diagnostic(
                .error,
                key: name,
                reason: "is not a setting",
                fix: guess.map { "Did you mean \($0)?" } ?? "offstage settings lists them."
            )
        }
        guard row.set(value, in: &settings) else {
            return Diagnostic(
                .error,
                key: name,
                value: value,
                reason: "is not a value of it",
                fix: "Write \(row.choices)."
            )
        }
        return nil
    }

    private static func set(
        _ name: String,
        _ value: String,
        of app: AppID,
        in settings: inout Settings
    ) -> Diagnostic? {
        guard name == appSetting else {
            return Diagnostic(
                .error,
                key: name,
                reason: "is not a setting of one app",
                fix: "An app has \(appSetting)."
            )
        }
        guard let flag = SettingRow.flag(value) else {
            return Diagnostic(
                .error,
                key: name,
                value: value,
                reason: "is not a value of it",
                fix: "Write on or off."
            )
        }
        settings.apps.removeAll { $0.app == app }
        var entry = AppSettings(app: app)
        entry.backgroundRefresh = flag
        settings.apps.append(entry)
        return nil
    }
}
