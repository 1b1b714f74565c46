package import Linux

/// A kind of cgroup in which the processes of a launch are held together. What a kind does not
/// limit or count itself is nil, and left to `ResourceGroups`.
package protocol AppGroup: Cgroup, Equatable {
    static var kind: ControlStep.Kind { get }
    /// What does not work with this kind alone.
    static var lost: [String] { get }
    /// Whether a program must be born in a group where no kill has been.
    static var mustBeFresh: Bool { get }

    func child(_ name: String) -> Self
    static func of(_ pid: Int32, in mounts: Mounts) throws(LinuxError) -> Self?
    /// Makes a program's process begin in it.
    func receive(_ program: inout Program)

    var isPopulated: Bool { get }
    var isFrozen: Bool { get }
    /// Controllers that groups below it have.
    var handedOn: [String] { get }
    func enable(_ controllers: [String]) throws(LinuxError)
    func setMemoryLimit(_ bytes: Int64?) throws(LinuxError)
    /// Whether this very group has a weight.
    var canWeighProcessor: Bool { get }
    func setProcessorWeight(_ weight: Int) throws(LinuxError)
    var processorTime: Int64? { get }
    var memory: Int64? { get }
    /// The most that it had at a time.
    var memoryPeak: Int64? { get }
    func memoryParts(peak: Int64) -> MemoryParts?
    var memoryKills: Int64? { get }
    /// How often it needed more than its limit.
    var memoryLimitHits: Int64? { get }
}

package typealias CgroupControl = GroupControl<CgroupV2>
package typealias FreezerControl = GroupControl<CgroupV1Freezer>

extension CgroupV2: AppGroup {
    package static var kind: ControlStep.Kind { .cgroup2 }
    package static var lost: [String] { [] }
    /// A group that a result was read in is not fresh: a kill in it would kill at birth.
    package static var mustBeFresh: Bool { true }

    package func receive(_ program: inout Program) { program.cgroup = path }
}

extension CgroupV1Freezer: AppGroup {
    package static var kind: ControlStep.Kind { .cgroup1 }
    package static var lost: [String] {
        ["a frozen app that gets SIGTERM exits only once it is thawed"]
    }
    package static var mustBeFresh: Bool { false }

    package func receive(_ program: inout Program) { program.joining.append(path) }

    package var handedOn: [String] { [] }
    package func enable(_ controllers: [String]) throws(LinuxError) {}
    package func setMemoryLimit(_ bytes: Int64?) throws(LinuxError) {}
    package var canWeighProcessor: Bool { false }
    package func setProcessorWeight(_ weight: Int) throws(LinuxError) {}
    package var processorTime: Int64? { nil }
    package var memory: Int64? { nil }
    package var memoryPeak: Int64? { nil }
    package func memoryParts(peak: Int64) -> MemoryParts? { nil }
    package var memoryKills: Int64? { nil }
    package var memoryLimitHits: Int64? { nil }
}

extension ControlStep {
    /// Reaches what a daemon with this step left behind: by the groups alone, or also those that
    /// are in none but have a marker.
    func control(with markers: LaunchMarkers?) -> (any ProcessControl)? {
        let groups: any ProcessControl
        switch kind {
        case .cgroup2: groups = CgroupControl(CgroupV2(path))
        case .cgroup1: groups = FreezerControl(CgroupV1Freezer(path))
        case .signals: return markers.map { SignalControl($0, refused: []) }
        }
        return markers.map { FallbackControl(groups, $0) } ?? groups
    }

    /// What reaches the launches of a daemon, or of the keeper after it: not those that have a
    /// marker in the directory of others. Nil: nothing does.
    func reach(
        _ own: (any ProcessControl)?,
        from place: LockFile.Place
    ) -> (any ProcessControl)? {
        place == .other ? control(with: nil) : own
    }
}
