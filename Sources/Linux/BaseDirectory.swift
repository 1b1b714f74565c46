/// Where programs keep a user's files, as the XDG Base Directory specification has it.
package enum BaseDirectory: String, CaseIterable, Sendable {
    case configuration = "XDG_CONFIG_HOME"
    case data = "XDG_DATA_HOME"
    case state = "XDG_STATE_HOME"
    case cache = "XDG_CACHE_HOME"

    private var usual: String {
        switch self {
        case .configuration: "/.config"
        case .data: "/.local/share"
        case .state: "/.local/state"
        case .cache: "/.cache"
        }
    }

    /// The user's home: what the environment says, if that is an absolute path; else what is known
    /// of the user.
    package static func home(
        environment: (String) -> String? = CurrentProcess.environment
    ) -> String {
        environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? User.current()?.home ?? "/"
    }

    /// What the environment says, if that is an absolute path; else the usual place in `home`.
    package func path(
        home: String,
        environment: (String) -> String? = CurrentProcess.environment
    ) -> String {
        environment(rawValue).flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + usual
    }
}
