import AppProtocol
import CommandTable
import DeviceCore
import Linux
import Vocabulary

/// The settings files of a daemon that was not told of others.
enum SettingsPlace {
    static var path: String {
        BaseDirectory.configuration.path(home: BaseDirectory.home()) + "/offstage/offstage.conf"
    }

    /// What they say; the defaults when there are none.
    static func read() throws(SettingsText.Invalid) -> Settings {
        let text: ConfigurationText
        do throws(Diagnostic) {
            text = try ConfigurationText(file: path)
        } catch {
            throw SettingsText.Invalid([error])
        }
        // A mistake of the administrator's is told by the daemon, and holds nobody up.
        let theirs = try? SettingsText.administrator(
            ConfigurationText(file: SettingsText.administratorPath)
        )
        return try SettingsText.parse(text, administrator: theirs ?? ConfigurationText())
    }
}

extension Invocation {
    /// Those of the daemon, where one runs: it may have been told of other files.
    func settingsInForce() throws(Failure) -> Settings {
        let rows: [Reported<Report.Setting>]
        do throws(Failure) {
            rows = try ask(Control1.Settings())
        } catch {
            guard error.code == .notRunning else { throw error }
            // A mistake in the files is told by the daemon, and by "offstage doctor".
            return (try? SettingsPlace.read()) ?? Settings()
        }
        var settings = Settings()
        for row in rows where row.app == nil {
            // One that a newer daemon has and this program does not know is left out.
            _ = SettingsText.set(row.setting, row.value, in: &settings)
        }
        return settings
    }
}
