/// Where the daemon listens, for those who call it.
package enum DaemonSocket {
    /// As `OFFSTAGE_SOCKET` says, else below `XDG_RUNTIME_DIR`; nil when neither is set.
    /// `environment`: the value of a variable.
    package static func path(_ environment: (String) -> String?) -> String? {
        if let path = environment("OFFSTAGE_SOCKET"), !path.isEmpty { return path }
        guard let runtime = environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else {
            return nil
        }
        return runtime + "/offstage/socket"
    }

    /// Beside the socket: what a daemon says that was started in the background.
    package static let logName = "daemon.log"
}
