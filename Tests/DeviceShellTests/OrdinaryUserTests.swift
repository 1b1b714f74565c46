import DeviceShell
import Linux
import TestKit
import Testing

/// What a user without rights gets. Root plays one in a process of its own (`ProcessPeer`).
@Suite(.enabled(if: Command.runsAsRoot && Command.ordinaryUser != nil, "only root can play others"))
struct OrdinaryUserTests {
    func play(_ step: ControlStep.Kind) throws -> Command.Outcome {
        #expect(Orphans.areOurs)
        let user = try #require(Command.ordinaryUser)
        let scratch = ScratchDirectory(owner: user)
        return try Command(
            Products.path(of: "ProcessPeer"),
            "user",
            user.name,
            scratch.path,
            step.rawValue
        ).run()
    }

    @Test func `without a delegated cgroup an ordinary user gets signals and the reasons`() throws {
        #expect(try play(.signals) == .init(status: .exited(0), output: "", errors: ""))
    }

    @Test(.enabled(if: ProcessBench.steps.contains(.cgroup2), "no cgroup v2 tree that we may use"))
    func `in a delegated subtree an ordinary user gets cgroups of its own`() throws {
        #expect(try play(.cgroup2) == .init(status: .exited(0), output: "", errors: ""))
        let root = try #require(try Mounts().cgroup2)
        for name in try Files.list(root) where name.hasPrefix("offstage-test-user-") {
            // That of a run beside this one may still be in use.
            try? CgroupV2(root + "/" + name).remove()
        }
    }
}
