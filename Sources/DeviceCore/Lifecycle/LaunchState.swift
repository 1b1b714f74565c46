/// Where a launch is on its way; made of what is stored.
enum LaunchState: CaseIterable, Hashable, Sendable {
    /// What is there before a command is read.
    case probing
    /// Handed to the shell; not known to have begun.
    case starting
    /// A command, or an app in the background.
    case running
    case foreground
    /// Frozen: an app with nothing to do, or a command in mid-run.
    case suspended
    /// Asked to end.
    case ending
    /// Made to end.
    case killed
    /// The command has exited; its result is read.
    case judging
    case over

    /// The states that one event may lead to, beside the same one.
    var successors: [LaunchState] {
        switch self {
        case .probing: [.starting, .over]
        case .starting: [.running, .foreground, .ending, .killed, .over]
        case .running: [.foreground, .suspended, .ending, .killed, .judging, .over]
        case .foreground: [.running, .killed, .over]
        case .suspended: [.running, .foreground, .ending, .killed, .judging, .over]
        case .ending: [.killed, .judging, .over]
        case .killed: [.over]
        case .judging: [.over]
        case .over: []
        }
    }
}

extension Launch {
    var state: LaunchState {
        switch phase {
        case .probing: return .probing
        case .judging: return .judging
        case .starting, .running: break
        }
        if let ending { return ending.killAt == nil ? .killed : .ending }
        guard phase == .running else { return .starting }
        return switch presence {
        case .foreground: .foreground
        case .background: .running
        case .suspended: .suspended
        }
    }
}
