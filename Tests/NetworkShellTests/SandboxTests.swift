import Linux
import NetworkShell
import TestKit
import Testing
import Vocabulary
import Wire

/// What the network process can no longer do, each thing tried in a process in the same sandbox.
struct SandboxTests {
    private let scratch = ScratchDirectory()

    private enum Answer: Equatable {
        case done
        case refused(Errno)
        case killed
    }

    private func attempt(
        _ name: String,
        at path: String = "/",
        without parts: [String] = [],
        as user: User? = nil
    ) throws -> Answer {
        let options = parts.flatMap { ["--without", $0] }
        var command = Command([Products.path(of: "SandboxPeer")] + options + [name, path])
        command.user = user
        switch try command.run().status {
        case .exited(0): return .done
        case .exited(let number) where number < 250: return .refused(Errno(number))
        case .signalled(Signal.badCall): return .killed
        case let status: throw DidNotHappen(description: "\(name): \(status)")
        }
    }

    // MARK: Files

    private static let hasLandlock = Landlock.version > 0
    private static let needsLandlock: Comment = "this kernel has no Landlock"

    @Test(
        .enabled(if: hasLandlock, needsLandlock),
        arguments: ["/etc/passwd", "/proc/self/maps", "/usr/bin/env", "/dev/zero"]
    )
    func `it reads nothing that everybody may read`(_ path: String) throws {
        #expect(try attempt("read_file", at: path) == .refused(.access))
        // It is the kernel's Landlock that refuses.
        #expect(try attempt("read_file", at: path, without: ["files"]) == .done)
    }

    @Test(.enabled(if: hasLandlock, needsLandlock), arguments: ["/", "/etc", "/etc/ssl/certs"])
    func `it lists no directory`(_ path: String) throws {
        #expect(try attempt("list_directory", at: path) == .refused(.access))
    }

    @Test(
        arguments: ["/etc/hosts", "/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"]
            .filter(Files.exists)
    )
    func `it reads what names and servers are known by`(_ path: String) throws {
        #expect(try attempt("read_file", at: path) == .done)
    }

    private static let changes: [(String, Errno)] = [
        ("write_file", .access), ("write_and_read_file", .access), ("create_file", .access),
        ("empty_file", .access), ("open_unnamed_file", .access), ("truncate_file", .permission),
        ("remove_file", .permission), ("rename_file", .permission),
        ("make_directory", .permission), ("change_permissions", .permission),
        ("make_link", .permission), ("make_memory_file", .permission),
    ]

    /// With either of the two that keep it from files.
    @Test(arguments: changes, [[], ["files"]])
    func `it changes no file, and makes none`(
        _ change: (name: String, refusal: Errno),
        _ parts: [String]
    ) throws {
        scratch.write([1], to: "file")
        try Files.setPermissions(scratch.path, 0o777)
        try Files.setPermissions(scratch("file"), 0o666)
        let path = change.name == "open_unnamed_file" ? scratch.path : scratch("file")
        let answer = try attempt(change.name, at: path, without: parts)
        #expect(answer == .refused(change.refusal))
        #expect(try Files.read(scratch("file")) == [1] && scratch.entries == ["file"])
    }

    @Test(
        .enabled(if: hasLandlock, needsLandlock),
        arguments: ["write_file", "truncate_file", "remove_file", "rename_file"]
    )
    func `Landlock alone keeps it from changing files`(_ name: String) throws {
        scratch.write([1], to: "file")
        try Files.setPermissions(scratch.path, 0o777)
        try Files.setPermissions(scratch("file"), 0o666)
        let answer = try attempt(name, at: scratch("file"), without: ["calls"])
        #expect(answer == .refused(.access))
        #expect(try Files.read(scratch("file")) == [1])
    }

    // MARK: Calls

    @Test(
        arguments: [
            "open_unix_socket", "make_datagram_pair", "open_packet_socket", "open_raw_socket",
            "open_ping_socket", "open_audit_socket", "listen_internet", "signal_parent",
            "signal_other_thread", "own_descriptor", "type_into_terminal", "attach_filter",
            "use_kernel_tls", "limit_parent", "become_dumpable", "map_code", "make_code",
        ]
    )
    func `what a library might try is refused`(_ name: String) throws {
        #expect(try attempt(name) == .refused(.permission))
    }

    @Test func `threads are made by the call that a filter can look into`() throws {
        #expect(try attempt("clone_by_memory") == .refused(.noSystemCall))
    }

    @Test(.enabled(if: Landlock.version >= 4, "this kernel's Landlock knows no network"))
    func `it takes no port`() throws {
        #expect(try attempt("bind_internet") == .refused(.access))
    }

    @Test(
        arguments: [
            "execute", "execute_descriptor", "fork_process", "thread_in_namespace", "trace",
            "read_parent", "take_descriptor", "become_root", "become_other_group", "join_groups",
            "mount_file_system", "unshare_namespace", "enter_namespace", "change_root",
            "open_by_handle", "ask_for_keys", "load_program", "use_ring", "count_events",
            "handle_faults", "load_module", "change_personality", "call_as_x32",
        ]
    )
    func `what only an attack would try ends it`(_ name: String) throws {
        #expect(try attempt(name) == .killed)
    }

    @Test(
        arguments: [
            "open_pair", "open_routes", "open_datagrams", "set_no_delay", "run_thread",
            "look_up_name",
        ]
    )
    func `what it needs is there`(_ name: String) throws {
        #expect(try attempt(name) == .done)
    }

    /// A name that is spelt wrongly would be refused, or let through, without a word.
    @Test func `all calls of the filter are known`() {
        let newer: Set = ["futex_wait", "futex_wake"]
        let older: Set = [
            "epoll_wait", "fork", "lstat", "open", "poll", "select", "stat", "time", "vfork",
        ]
        let unknown = Set(CallFilter.network.unknown)
        #if arch(x86_64)
        #expect(unknown.isSubset(of: newer))
        #else
        #expect(unknown.isSubset(of: newer.union(older)))
        #endif
    }

    // MARK: The real program

    /// Of each of its threads: of more than one, and of none that does not tell.
    private func status(_ pid: Int32, _ field: String) throws -> [[Substring]] {
        let threads = try Files.list("/proc/\(pid)/task")
        try #require(threads.count >= 2)
        return try threads.map { thread in
            let text = try Files.text("/proc/\(pid)/task/\(thread)/status")
            let lines = text.split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix(field + ":") }, "\(field)")
            return line.dropFirst(field.count + 1).split(whereSeparator: \.isWhitespace)
        }
    }

    @Test func `each of its threads is held before it says a word`() throws {
        let peer = try NetworkPeer()
        let pid = peer.process.pid
        #expect(peer.lacks == (Self.hasLandlock ? [] : [.files]))
        #expect(try status(pid, "Seccomp").allSatisfy { $0 == ["2"] })
        #expect(try status(pid, "NoNewPrivs").allSatisfy { $0 == ["1"] })
        for set in ["CapPrm", "CapEff", "CapInh", "CapAmb"] {
            #expect(try status(pid, set).allSatisfy { $0 == ["0000000000000000"] }, "\(set)")
        }
        let limits = try Files.text("/proc/\(pid)/limits").split(separator: "\n")
        let core = try #require(limits.first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    }

    private static let nobodyCanRun: Bool = {
        guard Command.runsAsRoot, let user = Command.ordinaryUser else { return false }
        var command = Command(Products.path(of: "offstage-net"), "--help")
        command.user = user
        return (try? command.run())?.succeeded == true
    }()

    @Test(.enabled(if: nobodyCanRun, "needs root, and a build that nobody may read"))
    func `for an ordinary user the same holds, and it is hidden from that user`() throws {
        let nobody = try #require(Command.ordinaryUser)
        let peer = try NetworkPeer(as: nobody)
        let pid = peer.process.pid
        #expect(try status(pid, "Seccomp").allSatisfy { $0 == ["2"] })
        // As it cannot be dumped, what is told of it belongs to root.
        #expect(Files.status("/proc/\(pid)/environ")?.user == 0)
        #expect(try attempt("execute", as: nobody) == .killed)
        if Self.hasLandlock {
            #expect(try attempt("read_file", at: "/etc/passwd", as: nobody) == .refused(.access))
        }
        let server = try FaultServer()
        server.set("/", .init(VersionedObject(version: 1, size: 10)))
        let id = try peer.begin(ExchangeOrder(url: server.url("/")), to: scratch("file"))
        #expect(try peer.end(id).end == .complete(size: 10))
    }

    @Test(.enabled(if: Command.runsAsRoot, "needs root"))
    func `for root it is nobody, whom even nobody cannot look into`() throws {
        let peer = try NetworkPeer()
        let pid = peer.process.pid
        // The real one, the effective, the saved and that of the file system.
        let nobodies = Array(repeating: "65534" as Substring, count: 4)
        for field in ["Uid", "Gid"] {
            #expect(try status(pid, field).allSatisfy { $0 == nobodies }, "\(field)")
        }
        #expect(try status(pid, "Groups").allSatisfy(\.isEmpty))
        let nobody = try #require(Command.ordinaryUser)
        let environment = try Command.acting(as: nobody) {
            try? Files.read("/proc/\(pid)/environ")
        }
        #expect(environment == nil)
    }

    @Test(.enabled(if: Command.runsAsRoot, "needs root"), arguments: ["files", "calls", "user"])
    func `what the kernel would not is told, and it goes on without`(_ part: String) throws {
        let peer = try NetworkPeer(without: part)
        #expect(peer.lacks.contains { $0.rawValue == part })
        let server = try FaultServer()
        server.set("/", .init(VersionedObject(version: 1, size: 10)))
        let id = try peer.begin(ExchangeOrder(url: server.url("/")), to: scratch("file"))
        #expect(try peer.end(id).end == .complete(size: 10))
    }
}
