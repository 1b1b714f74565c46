package import Linux

/// Why a daemon cannot start; each says what to do.
package enum DaemonError: Error, CustomStringConvertible {
    case usage(String)
    case directory(LinuxError)
    /// Something that no other directory would mend.
    case system(LinuxError)
    /// The step that was asked for with --step is not possible here.
    case step(String)
    case alreadyRunning(state: String, pid: Int32?)
    case store(StoreError)
    case socket(String)

    package var description: String {
        switch self {
        case .usage(let text): text
        case .directory(let error):
            "\(error). The directories are chosen with --state and --runtime."
        case .system(let error): "\(error)"
        case .step(let reason):
            "--step: it cannot be had here: \(reason). Without --step the best that works is taken."
        case .alreadyRunning(let state, let pid):
            "another daemon\(pid.map { " (process \($0))" } ?? "") runs for \(state). "
                + "Only one may; choose another directory with --state to run a second."
        case .store(let error): "\(error)"
        case .socket(let text): text
        }
    }

    /// 2 is a mistake in the call.
    package var exitStatus: Int32 {
        switch self {
        case .usage: 2
        case .directory, .system, .step, .alreadyRunning, .store, .socket: 1
        }
    }
}
