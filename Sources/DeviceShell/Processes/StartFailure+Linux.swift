internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Whose affair an error of a start is: only what `execve` or `chdir` says of the program itself is
/// the app's.
extension StartFailure {
    /// A file of ours, in the state directory, could not be written.
    init(writing error: LinuxError) {
        self.init(error.isWantOfResources ? .processes : .storage, reason: error.description)
    }

    /// The steps from the kernel's group of the launch to its program.
    init(starting error: LinuxError, _ spec: ProcessSpec) {
        self.init(
            error.causeOfStart,
            reason: error.explanation(starting: spec.arguments.first, in: spec.directory)
        )
    }

    /// The steps that make a process, which runs already, one of the launch.
    init(attaching error: LinuxError) {
        self.init(
            error.isWantOfResources ? .processes : .program,
            reason: error.description
        )
    }

    /// What a launch's marker tells of a start that failed after it counted as done. Nil: it has
    /// not failed. `spec`: what was to be started, while that is known.
    init?(markers: LaunchMarkers, of id: LaunchID, _ spec: ProcessSpec?) {
        switch markers.failure(of: id) {
        case .execute(let error):
            let reason =
                spec.map { error.explanation(starting: $0.arguments.first, in: $0.directory) }
            self.init(error.causeOfStart, reason: reason ?? error.description)
        case .nobody: self.init(.processes, reason: "it ended before its program began")
        case nil: return nil
        }
    }
}

extension Exit {
    /// Whether a process of ours may have ended so before its program began. One that has no room
    /// for a program is ended before it has said who it is.
    var mayPrecedeProgram: Bool {
        switch self {
        case .status(let status): status == Program.failedStatus
        case .signal(_, let outOfMemory): !outOfMemory
        case .unknown: false
        }
    }
}

extension LinuxError {
    fileprivate var causeOfStart: StartFailure.Cause {
        switch operation {
        case "execve", "chdir": isWantOfResources ? .processes : .program
        case "write marker": .storage
        // What is written in the kernel's groups, or begun in one.
        case "mkdir", "open", "write", "clone3", "tasks":
            errno == .noEntry || errno == .noDevice ? .groups : .processes
        default: .processes
        }
    }

    /// No process, memory or descriptor is left: true of the machine, whatever was tried.
    var isWantOfResources: Bool {
        [.again, .noMemory, .tooManyFiles, .tooManyFilesInSystem].contains(errno)
    }
}
