package import Linux

/// Why a daemon cannot start; each says what to do.
package enum DaemonError: Error, CustomStringConvertible {
    case usage(String)
    case directory(LinuxError)
    /// It is neither empty nor one of ours.
    case foreignDirectory(String)
    /// Something that no other directory would mend.
    case system(LinuxError)
    /// The step that was asked for with --step is not possible here.
    case step(String)
    case alreadyRunning(state: String, pid: Int32?)
    case store(StoreError)
    case socket(String)
    /// Another daemon answers at this socket.
    case listening(String)
    /// Its times are of a virtual clock; this daemon would have the machine's.
    case virtualClock(state: String)
    /// It is to have one, and knows real times.
    case realClock(state: String)
    /// The file of one says nothing.
    case noVirtualClock(String)

    package var description: String {
        switch self {
        case .usage(let text): text
        case .directory(let error):
            "\(error). The directories are chosen with --state and --runtime, or with "
                + "XDG_STATE_HOME and XDG_RUNTIME_DIR."
        case .foreignDirectory(let path):
            "\(path) holds files that are not Offstage's: it would be closed to everybody else. "
                + "Choose an empty directory, or one that does not exist, with --state and "
                + "--runtime."
        case .system(let error): "\(error)"
        case .step(let reason):
            "--step: it is not available here: \(reason). Without --step the best available one "
                + "is used."
        case .alreadyRunning(let state, let pid):
            "another daemon\(pid.map { " (process \($0))" } ?? "") runs for \(state). "
                + "Only one may; choose another directory with --state to run a second."
        case .store(let error): "\(error)"
        case .socket(let text): text
        case .listening(let socket):
            "another daemon listens at \(socket). Choose another directory with --runtime to run "
                + "a second."
        case .virtualClock(let state):
            "\(state) belongs to daemons with a virtual clock. Start this one with "
                + "--virtual-clock, or choose another directory with --state."
        case .realClock(let state):
            "\(state) belongs to a daemon with a real clock. Choose another directory with --state "
                + "for --virtual-clock."
        case .noVirtualClock(let path):
            "\(path) does not say how far the virtual clock is ahead. Choose another directory "
                + "with --state, or delete this one."
        }
    }

    /// 2 is a mistake in the call.
    package var exitStatus: Int32 {
        switch self {
        case .usage: 2
        case .directory, .foreignDirectory, .system, .step, .alreadyRunning, .store, .socket,
            .listening, .virtualClock, .realClock, .noVirtualClock:
            1
        }
    }
}
