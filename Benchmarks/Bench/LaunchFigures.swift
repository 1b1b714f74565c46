import DeviceShell
import Glibc
import Linux
import SystemBus
import TestKit
import Vocabulary

/// What a launch of `true` takes, and what the machine takes for its parts alone
/// (docs/benchmarks.md, Footprint).
enum LaunchFigures {
    /// One after the other, each from its decision until its exit is committed.
    static func figures() throws -> [Figure] {
        let daemon = try ScratchDaemon(
            settings: """
                pause-after-start = 0s
                pause-after-boot = 0s
                """
        )
        try daemon.start()
        let bus = try Bus.connect(toSocket: daemon.socket)
        let markers = LaunchMarkers(daemon.scratch("state/launches"))
        var times = try LaunchTimes(of: daemon, markers)
        let groups = try BareGroup.all(of: markers)
        let commit = try BareCommit(path: daemon.scratch("bare.db"))
        var ours: [Double] = []
        var spawned: [Double] = []
        var grouped: [Double] = []
        var committed: [Double] = []
        for _ in 0..<200 {
            try FootprintGroup.control(
                bus,
                "Submit",
                [["kind": "refresh", "command": ["/bin/true"], "id": "t"]],
                "a{sv}"
            )
            ours.append(try times.next())
            spawned.append(timed(spawnTrue) / 1000)
            grouped.append(try groups.reduce(0) { try $0 + $1.time() } / 1000)
            committed.append(try (timed { try commit.run() } + timed { try commit.run() }) / 1000)
        }
        print(
            "     (posix_spawn \(Int(spawned.median)), groups \(Int(grouped.median)), "
                + "two commits \(Int(committed.median)) µs)"
        )
        let name = "launch of true, decision to recorded exit, p50"
        return [
            Figure(
                name: name,
                unit: "µs",
                ours: ours.median,
                peer: spawned.median + grouped.median + committed.median,
                peerName: "posix_spawn and wait, the cgroup calls, two bare commits",
                limit: .ratio(1.3)
            ),
            Figure(
                name: name,
                unit: "µs",
                ours: ours.median,
                peer: spawned.median,
                peerName: "posix_spawn and wait alone"
            ),
        ]
    }

    private static func spawnTrue() {
        var pid: pid_t = 0
        let name = strdup("true")
        defer { free(name) }
        var arguments: [UnsafeMutablePointer<CChar>?] = [name, nil]
        guard posix_spawn(&pid, "/bin/true", nil, nil, &arguments, environ) == 0 else { return }
        var status: Int32 = 0
        waitpid(pid, &status, 0)
    }
}

/// A group that one launch needs in one hierarchy: made, given its limits, joined and removed, with
/// one call for each.
private struct BareGroup {
    private let path: String
    private let limits: [(file: String, value: String)]
    /// Nil: a process is born in it.
    private let tasks: String?

    /// One below each directory that the daemon has made for its launches.
    static func all(of markers: LaunchMarkers) throws -> [BareGroup] {
        let lines = try Files.text(markers.directory + "/step").split(separator: "\n")
        let scopes = lines.dropFirst().map(String.init)
        return try Set(scopes).sorted().map { try BareGroup(below: $0) }
    }

    private init(below scope: String) throws {
        let path = scope + "/bare"
        try Files.makeDirectory(path, permissions: 0o755)
        defer { try? Files.removeDirectory(path) }
        let size = "\(200 << 20)"
        limits = [
            ("memory.max", size), ("memory.limit_in_bytes", size),
            ("memory.memsw.limit_in_bytes", size), ("cpu.weight", "10"), ("cpu.shares", "102"),
        ].filter { Files.exists(path + "/" + $0.0) }
        self.path = path
        // A benchmark begins in the group that the daemon began in, which is above the scope.
        tasks = Files.exists(path + "/tasks") ? Files.directory(of: scope) + "/tasks" : nil
    }

    /// Nanoseconds.
    func time() throws -> Double {
        let beginning = try timed {
            try Files.makeDirectory(path, permissions: 0o755)
            for limit in limits { try Files.set(path + "/" + limit.file, to: limit.value) }
            if tasks != nil { try Files.set(path + "/tasks", to: "0") }
        }
        if let tasks { try Files.set(tasks, to: "0") }
        return try beginning + timed { try Files.removeDirectory(path) }
    }
}
