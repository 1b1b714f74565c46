import DeviceCore
import Linux
import Vocabulary

/// The settings file of a daemon that was not told of another one.
enum SettingsPlace {
    static var path: String {
        func absolute(_ variable: String) -> String? {
            CurrentProcess.environment(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = absolute("HOME") ?? User.current()?.home ?? "/"
        return (absolute("XDG_CONFIG_HOME") ?? home + "/.config") + "/offstage/offstage.conf"
    }

    /// What it says; the defaults when there is none.
    static func read() throws(SettingsText.Invalid) -> Settings {
        guard Files.exists(path) else { return Settings() }
        let bytes: [UInt8]
        do throws(LinuxError) {
            bytes = try Files.read(path, limit: ConfigurationText.limit + 1)
        } catch {
            throw SettingsText.Invalid([
                Diagnostic(
                    .error,
                    reason: "cannot be read: \(error.errno.text)",
                    fix: "Mend its permissions."
                )
            ])
        }
        return try SettingsText.parse(ConfigurationText(bytes: bytes))
    }
}
