internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Which launch a process says in its environment that it is of. Whatever a program starts inherits
/// it, whatever session it goes to and whoever becomes its parent; a program that starts others
/// with an environment of their own gives it up.
struct LaunchTags {
    static let name = "OFFSTAGE_LAUNCH"
    /// Of programs that are no launches: the user's own about failures.
    static let ofNone = LaunchID(0)
    /// It stands first in the environment; so much is looked at.
    private static let window = 8192

    private let prefix: String
    /// By process, as it was read first: reading it is the cost.
    private var known: [ProcessIdentity: LaunchID?] = [:]

    init(_ markers: LaunchMarkers) { prefix = "\(Self.name)=\(markers.directory)/" }

    /// The variable for the programs of a launch.
    static func variable(_ id: LaunchID, _ markers: LaunchMarkers) -> String {
        "\(name)=\(markers.path(of: id))"
    }

    /// The launch of each of these that has a tag of ours.
    mutating func launches(of processes: [ProcessStatus]) -> [ProcessIdentity: LaunchID] {
        var next: [ProcessIdentity: LaunchID?] = [:]
        var found: [ProcessIdentity: LaunchID] = [:]
        for process in processes where !process.hasEnded {
            let identity = process.identity
            let id = known[identity] ?? read(identity)
            next[identity] = .some(id)
            found[identity] = id
        }
        known = next
        return found
    }

    func launch(of process: ProcessIdentity) -> LaunchID? {
        known[process] ?? read(process)
    }

    private func read(_ process: ProcessIdentity) -> LaunchID? {
        guard let file = try? FileDescriptor(opening: "/proc/\(process.pid)/environ", .reading),
            let bytes = try? file.read(at: 0, count: Self.window)
        else { return nil }
        for entry in bytes.split(separator: 0) {
            let text = String(decoding: entry, as: UTF8.self)
            if text.hasPrefix(prefix) { return LaunchName.id(text.dropFirst(prefix.count)) }
        }
        return nil
    }
}
