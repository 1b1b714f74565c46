import CCallFilter
import DeviceCore
import DeviceShell
import Linux
import TestKit
import Vocabulary

/// A process of its own for tests that kill the one that does the work, dress it up, or give it an
/// environment.
///
/// `daemon STEP DIRECTORY OFFSTAGED`: launches an app, freezes it, starts a keeper, is killed.
/// `user NAME DIRECTORY STEP`: becomes another user, checks which step is in force and uses it;
/// with cgroup v2, in a subtree delegated as a service manager does it.
/// `commits DATABASE LOG MICROSECONDS`: commits to a store and writes down each, until the time is
/// over and it is killed.
/// `without-clone3 ERRNO`: starts a program where the kernel refuses clone3 with this number.
/// `without-ioctl`: reads how a program ended where the kernel does not tell it of a pidfd.
/// `app SOCKET`: is a linked app, and does what a test says there.
/// `wait`: does nothing, as a program without threads.
/// `buses`: prints the identities of the user's message bus and of the machine's.
@main
enum ProcessPeer {
    static func main() {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            switch (words.first, words.count) {
            case ("daemon", 4): try dieAsDaemon(step(words[1]), words[2], offstaged: words[3])
            case ("user", 4): try actAs(words[1], step(words[3]), words[2])
            case ("commits", 4): try commitUntilKilled(words[1], words[2], after: words[3])
            case ("buses", 1): try printBuses()
            case ("without-clone3", 2): try startWithoutClone3(words[1])
            case ("without-ioctl", 1): try learnEndWithoutIoctl()
            case ("wait", 1):
                CurrentProcess.printByLines()
                print("waiting")
                while true { _ = Poll.ready(-1, for: .readable, milliseconds: 1_000_000) }
            case ("app", 2): try AppPeer(words[1]).run()
            default: throw DidNotHappen(description: "usage")
            }
        } catch {
            print("\(error)")
            CurrentProcess.exit(1)
        }
    }

    private static func step(_ word: String) throws -> ControlStep.Kind {
        guard let step = ControlStep.Kind(rawValue: word) else {
            throw DidNotHappen(description: "no such step")
        }
        return step
    }

    /// Changes its file as long as it runs.
    static let pulse = "while :; do date +%N > pulse.new; mv pulse.new pulse; done"

    static func hold(_ condition: Bool, _ what: String) throws {
        guard condition else { throw DidNotHappen(description: what) }
    }

    static func probe(_ directory: String, only step: ControlStep.Kind?) -> ControlProbe {
        ControlProbe(
            name: ControlProbe.name(forState: directory),
            markers: LaunchMarkers(directory + "/launches"),
            only: step
        )
    }

    static func launch(
        _ script: String,
        _ directory: String,
        _ control: any ProcessControl,
        memory: Int64? = nil
    ) throws -> PidFD {
        let markers = LaunchMarkers(directory + "/launches")
        try markers.open(bootID: Clocks.bootID())
        try markers.record(control.step)
        var program = Program(
            "/bin/sh",
            arguments: ["sh", "-c", script],
            environment: Command.cleanEnvironment()
        )
        program.directory = directory
        let marker = try markers.create(LaunchID(1))
        program.marker = marker.number
        return try control.launch(LaunchID(1), program, LaunchLimits(memory: memory))
    }

    static func startWithoutClone3(_ number: String) throws {
        try hold(call_filter_refuse_clone3(Int32(number) ?? 0) == 0, "the filter")
        let program = Program("/bin/sh", arguments: ["sh", "-c", "exit 7"], environment: [])
        let process = try program.start()
        try hold(ProcessIdentity(of: process.pid) != nil, "its number is known")
        try Wait.until(readable: process.descriptor.number)
        try hold(process.wait(block: false) == .exited(7), "its end is told")
        var missing = program
        missing.path = "/no/such/program"
        do {
            _ = try missing.start()
            throw DidNotHappen(description: "a program that is not there was started")
        } catch let error as LinuxError {
            try hold(error.operation == "execve" && error.errno == .noEntry, "\(error)")
        }
        guard let root = try Mounts().cgroup2 else { return }
        // To be born in a cgroup takes clone3: that is said, not passed over.
        var inside = program
        inside.cgroup = root
        do {
            _ = try inside.start()
            throw DidNotHappen(description: "it was born in a cgroup")
        } catch let error as LinuxError {
            try hold(error.operation == "clone3", "\(error)")
        }
    }

    static func learnEndWithoutIoctl() throws {
        try hold(call_filter_refuse_ioctl() == 0, "the filter")
        let program = Program("/bin/sh", arguments: ["sh", "-c", "exit 7"], environment: [])
        let process = try program.start()
        try Wait.until(readable: process.descriptor.number)
        try hold(process.end == .exited(7), "its end is known: \(String(describing: process.end))")
        try hold(process.wait(block: true) == .exited(7), "it was not reaped")
        try hold(process.end == nil, "nobody tells it any more")
    }

    static func dieAsDaemon(
        _ step: ControlStep.Kind,
        _ directory: String,
        offstaged: String
    ) throws {
        let lock = try DaemonLock(directory + "/lock")
        try hold(lock.takeForDaemon(), "taking the lock")
        let control = try probe(directory, only: step).choose()
        _ = try launch(pulse, directory, control)
        try Wait.until(file: directory + "/pulse", "written by the app")
        try Wait.until("frozen", { try control.freeze(LaunchID(1)) })
        _ = try Keeper.ensure(
            executable: offstaged,
            lock: lock,
            markers: LaunchMarkers(directory + "/launches"),
            control: control,
            patience: .milliseconds(1)
        )
        try CurrentProcess.send(Signal.kill, to: CurrentProcess.pid)
    }

    static func actAs(_ name: String, _ step: ControlStep.Kind, _ directory: String) throws {
        guard let user = User.named(name) else { throw DidNotHappen(description: "no such user") }
        var service: String?
        if step == .cgroup2 { service = try delegate(to: user) }
        try CurrentProcess.become(user)
        let control = try probe(directory, only: nil).choose()
        try hold(control.step.kind == step, "step \(control.step)")
        let better = ControlStep.Kind.allCases.prefix { $0 != step }.count
        try hold(control.step.refused.count == better, "reasons \(control.step.refused)")
        if let service {
            try hold(Files.directory(of: control.step.path) == service, "beside our own cgroup")
        }
        let id = LaunchID(1)
        let process = try launch("while :; do :; done", directory, control, memory: 200 << 20)
        func waitUntilBusy(beyond before: Interval) throws {
            try Wait.until("busy", { (control.usage(of: id)?.cpu ?? .zero) > before }, step: work)
        }
        try waitUntilBusy(beyond: .zero)
        try Wait.until("frozen", { try control.freeze(id) })
        let time = control.usage(of: id)?.cpu ?? .zero
        try work()
        try hold(control.usage(of: id)?.cpu == time, "time stands still")
        try control.thaw(id)
        try waitUntilBusy(beyond: time)
        try hold(control.launch(of: process.pid) == id, "membership")
        try control.kill(id)
        try hold(process.wait(block: true) == .signalled(Signal.kill), "killed")
        try Wait.until("removed", { control.remove(id) }, step: work)
        if !control.step.path.isEmpty { try Files.removeDirectory(control.step.path) }
    }

    /// Something else counts for a while.
    static func work() throws {
        _ = try Command("sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done").run()
    }

    /// A directory of the user's, and we in a leaf of it. Its path.
    static func delegate(to user: User) throws -> String {
        guard let root = try Mounts().cgroup2 else {
            throw DidNotHappen(description: "no cgroup v2")
        }
        let service = CgroupV2(root + "/offstage-test-user-\(CurrentProcess.pid)")
        let leaf = service.child("daemon")
        try service.create()
        try leaf.create()
        for name in ["", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control"] {
            try Files.setOwner(service.path + name, user: user.user, group: user.group)
            try Files.setOwner(leaf.path + name, user: user.user, group: user.group)
        }
        try leaf.add(CurrentProcess.pid)
        return service.path
    }
}
