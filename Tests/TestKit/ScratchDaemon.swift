package import Linux
import Vocabulary

/// A real `offstaged` with everything of its own, in a scratch directory.
///
/// It may be killed and started again; what it keeps on disk stays until this value goes.
package final class ScratchDaemon {
    package let scratch: ScratchDirectory
    /// Options beside those for the directories, such as `--cgroup PATH`. Without `--pressure` it
    /// knows nothing of memory pressure: another test may be what makes memory short.
    package var options: [String]
    package var environment: [String: String] = [:]
    /// A command that executes its arguments, to start it by.
    package var wrapper: [String] = []
    /// Who it runs as; nil is whoever runs the tests.
    package let user: User?
    package private(set) var process: PidFD?
    package private(set) var identity: ProcessIdentity?

    /// `parent`: in which directory its own is made.
    package init(
        options: [String] = [],
        settings: String = "",
        as user: User? = nil,
        in parent: String = "/tmp"
    ) throws {
        guard Orphans.areOurs else { throw DidNotHappen(description: "becoming a subreaper") }
        scratch = ScratchDirectory(owner: user, in: parent)
        self.options = options
        self.user = user
        for name in ["state", "run", "data/applications", "home"] {
            try Files.makeDirectory(scratch(name), permissions: 0o700, parents: true)
        }
        try scratch.write("offstage.conf", settings)
        guard let user else { return }
        for name in ["state", "run", "data", "data/applications", "home", "offstage.conf"] {
            try Files.setOwner(scratch(name), user: user.user, group: user.group)
        }
    }

    deinit {
        try? kill()
        // Its apps and its keeper outlive it on purpose; here they end, and are reaped.
        let step = (try? scratch.read("state/launches/step"))?.split(separator: "\n") ?? []
        if step.count >= 2 { Self.removeGroups(String(step[1])) }
        var left: [ProcessIdentity] = []
        for name in (try? Files.list(scratch("state/launches"))) ?? [] {
            guard let text = try? scratch.read("state/launches/" + name),
                let leader = ProcessIdentity(marker: text), leader.isAlive
            else { continue }
            left += Self.session(of: leader) + [leader]
        }
        for process in left { try? PidFD(of: process).send(Signal.kill) }
        try? Wait.untilGone(left)
    }

    /// The processes of a launch, whose main process leads a session.
    private static func session(of leader: ProcessIdentity) -> [ProcessIdentity] {
        ((try? Files.list("/proc")) ?? []).compactMap { Int32($0) }
            .filter { ProcessStatus(of: $0)?.session == leader.pid }
            .compactMap { ProcessIdentity(of: $0) }
    }

    /// Ends what is left in its scope, and takes the directories of the kernel away.
    private static func removeGroups(_ scope: String) {
        let group = CgroupV2(scope)
        let pids = (try? group.processes()) ?? []
        let processes = pids.compactMap { ProcessIdentity(of: $0) }
        if group.canFreeze {
            try? group.kill()
        } else {
            for name in (try? group.children()) ?? [] {
                try? CgroupV1Freezer(scope + "/" + name).kill()
            }
        }
        try? Wait.untilGone(processes)
        try? group.remove()
        guard let name = scope.split(separator: "/").last, let mounts = try? Mounts() else {
            return
        }
        for controller in ["freezer", "memory", "cpu", "cpuacct"] {
            guard let root = mounts.cgroup1(controller),
                let own = (try? CgroupMembership(of: CurrentProcess.pid))?.controllers[controller]
            else { continue }
            for place in [root, root + own] { try? CgroupV1Freezer("\(place)/\(name)").remove() }
        }
    }

    package var socket: String { scratch("run/socket") }
    package var logPath: String { scratch("daemon.log") }
    package var log: String { (try? Files.text(logPath, limit: 1 << 26)) ?? "" }

    /// Writes a manifest `NAME.desktop` into its data directory.
    package func write(manifest name: String, _ text: String) throws {
        try scratch.write("data/applications/\(name).desktop", text)
    }

    /// Starts it and returns once it has said that it is ready.
    package func start() throws {
        guard try begin(Wait.limitMilliseconds) else {
            throw DidNotHappen(description: "offstaged ready; it said:\n\(log)")
        }
    }

    /// Starts it, and kills it should it not be ready after so long; false then.
    package func start(killedAfter milliseconds: Int32) throws -> Bool {
        if try begin(milliseconds) { return true }
        try kill()
        return false
    }

    /// The machine of the test is a quiet one without a battery, whatever else runs beside it.
    private var sensors: [(option: String, place: String)] {
        [
            ("--pressure", "off"), ("--power-supplies", scratch("supplies")),
            ("--load", scratch("loadavg")), ("--routes", "off"), ("--thermal", "off"),
            ("--system-bus", "off"), ("--app-slice", "off"), ("--cpu-pressure", "off"),
        ]
    }

    private func command(notifying socket: String) -> Command {
        var command = Command(
            wrapper + [Products.path(of: "offstaged")] + [
                "--state", scratch("state"), "--runtime", scratch("run"),
                "--config", scratch("offstage.conf"), "--data", scratch("data"),
                "--administrator", scratch("administrator.conf"),
            ] + sensors.flatMap { options.contains($0) ? [] : [$0, $1] } + options
        )
        command.environment = Command.cleanEnvironment(
            ["NOTIFY_SOCKET": socket, "HOME": scratch("home")].merging(environment) { $1 }
        )
        command.user = user
        return command
    }

    private func begin(_ milliseconds: Int32) throws -> Bool {
        try Files.makeDirectory(scratch("data"), permissions: 0o755, parents: true)
        try Files.makeDirectory(scratch("supplies"), permissions: 0o755, parents: true)
        if !Files.exists(scratch("loadavg")) {
            try scratch.write("loadavg", "0.00 0.00 0.00 1/100 1\n")
        }
        let notify = scratch("notify")
        try? Files.remove(notify)
        let socket = try UnixSocket.datagrams(at: notify)
        if let user { try Files.setOwner(notify, user: user.user, group: user.group) }
        process = try command(notifying: notify).start(logging: logPath)
        let number = process?.descriptor.number ?? -1
        identity = ProcessIdentity(of: process?.pid ?? 0)
        let end = Clocks.boot().nanoseconds + Int64(milliseconds) * 1_000_000
        while true {
            let left = max(0, end - Clocks.boot().nanoseconds) / 1_000_000
            let ready = try Poll.wait(
                for: [(socket.number, .readable), (number, .readable)],
                milliseconds: Int32(left)
            )
            if !ready[0].isEmpty {
                let bytes = try socket.read(upTo: 4096)
                let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                if lines.contains("READY=1") { return true }
                continue
            }
            guard ready[1].isEmpty else {
                throw DidNotHappen(description: "offstaged ready; it said:\n\(log)")
            }
            return false
        }
    }

    /// Kill -9; returns once it is gone.
    package func kill() throws { try end(by: Signal.kill) }

    /// Asks it to end and returns how it ended.
    @discardableResult
    package func stop() throws -> ProcessExit? { try end(by: Signal.terminate) }

    package func restart() throws {
        try kill()
        try start()
    }

    /// Sends a signal that ends it, and starts the next at once, before the first is gone. While
    /// the first lives the next is refused, and tried again. Returns how the first ended.
    package func succeed(_ signal: Int32) throws -> ProcessExit? {
        guard let first = process.take() else { return nil }
        try first.send(signal)
        while true {
            let said = log.utf8.count
            do {
                try start()
                break
            } catch let error as DidNotHappen {
                let refusal = String(decoding: log.utf8.dropFirst(said), as: UTF8.self)
                _ = try process?.wait(block: true)
                process = nil
                guard refusal.contains("another daemon") else { throw error }
                try Wait.until(readable: first.descriptor.number, "end of offstaged")
            }
        }
        // Its files are closed a moment before its end is told.
        try Wait.until(readable: first.descriptor.number, "two daemons at once")
        return try first.wait(block: false)
    }

    /// Starts another one beside it, for the same state, and returns how that ended.
    package func startBeside() throws -> Command.Outcome {
        try command(notifying: scratch("beside")).run()
    }

    /// Whether it ends by itself within a time.
    package func ends(within milliseconds: Int32) -> Bool {
        guard let number = process?.descriptor.number else { return false }
        return Poll.ready(number, for: .readable, milliseconds: milliseconds)
    }

    /// Lets it stand still for a while, or go on.
    package func send(_ signal: Int32) throws { try process?.send(signal) }

    @discardableResult
    private func end(by signal: Int32) throws -> ProcessExit? {
        guard let number = process?.descriptor.number else { return nil }
        try? process?.send(signal)
        try Wait.until(readable: number, "end of offstaged")
        let exit = try process?.wait(block: false)
        process = nil
        return exit
    }
}
