internal import DeviceCore
internal import Linux
internal import Vocabulary

/// One way to start, freeze and end the processes of launches; which one is in force is found by
/// probing (cgroup v2, cgroup v1, signals). No policy: `AppProcesses` calls it for the core.
protocol ProcessControl: AnyObject {
    /// For `offstage doctor`: the step in force, and what is lost with it.
    var step: ControlStep { get }

    /// Starts a program as the main process of a launch, in a fresh group of its own.
    func launch(_ id: LaunchID, _ program: Program, _ limits: LaunchLimits) throws(LinuxError)
        -> PidFD
    /// Starts one more program in the group of a launch, for reading a result.
    func join(_ id: LaunchID, _ program: Program) throws(LinuxError) -> PidFD
    /// Moves a process that is not ours into the fresh group of a launch.
    func adopt(_ id: LaunchID, pid: Int32, _ limits: LaunchLimits) throws(LinuxError)

    func freeze(_ id: LaunchID) throws(LinuxError)
    func thaw(_ id: LaunchID) throws(LinuxError)
    /// To every process of the launch.
    func signal(_ id: LaunchID, _ signal: Int32) throws(LinuxError)
    func kill(_ id: LaunchID) throws(LinuxError)
    func weigh(_ id: LaunchID, _ weight: Weight) throws(LinuxError)
    func processes(of id: LaunchID) -> [Int32]
    /// Nil: not measurable here.
    func usage(of id: LaunchID) -> Usage?
    /// Whether the kernel ended something in it for want of memory.
    func ranOutOfMemory(_ id: LaunchID) -> Bool
    /// Ends what is left and removes the group. Called again later when something still dies.
    func remove(_ id: LaunchID)
    /// Groups found on the machine when the daemon starts.
    func discover() -> [LaunchID]
}

struct LaunchLimits: Equatable, Sendable {
    /// Bytes; nil: none.
    var memory: Int64?
    var weight: Weight
}

/// A step of process control, in words for `offstage doctor`.
struct ControlStep: Equatable, Sendable {
    /// `cgroup v2`, `cgroup v1`, `signals`.
    var name: String
    var path: String
    var limitsMemory: Bool
    /// What does not work on this step; empty: everything does.
    var lost: [String]
}
