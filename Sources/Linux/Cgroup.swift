internal import CLinux
internal import Glibc

/// What cgroups of both versions share: a directory with `cgroup.procs`.
package protocol Cgroup: Sendable {
    var path: String { get }
    /// Stops every process in it; true when the kernel said that all have stopped.
    func freeze() throws(LinuxError) -> Bool
    func thaw() throws(LinuxError)
    /// Ends every process in it, frozen or not.
    func kill() throws(LinuxError)
}

extension Cgroup {
    package var exists: Bool { Files.status(path)?.kind == .directory }

    /// False when there was one.
    @discardableResult
    package func create() throws(LinuxError) -> Bool {
        try Files.makeDirectory(path, permissions: 0o755)
    }

    /// Moves a process in.
    package func add(_ pid: Int32) throws(LinuxError) {
        try Files.set(path + "/cgroup.procs", to: "\(pid)")
    }

    /// Every process in it and below; 0 stands for those of other pid namespaces.
    package func processes() throws(LinuxError) -> [Int32] {
        var found: [Int32] = []
        try visit { (directory) throws(LinuxError) in
            let text = try Files.text(directory + "/cgroup.procs", limit: 1 << 22)
            found += text.split(separator: "\n").compactMap { Int32($0) }
        }
        return found
    }

    /// Removes it and the cgroups below it. Throws `busy` while a process is in one of them.
    package func remove() throws(LinuxError) {
        do throws(LinuxError) {
            return try Files.removeDirectory(path)
        } catch  where error.errno == .noEntry {
            return
        } catch {
            // There are some below; looking for them costs a call for each file in it.
        }
        try visit { (directory) throws(LinuxError) in
            do throws(LinuxError) {
                try Files.removeDirectory(directory)
            } catch  where error.errno == .noEntry {
                return
            }
        }
    }

    /// Names of the cgroups directly below.
    package func children() throws(LinuxError) -> [String] {
        try Files.list(path).filter { Files.status(path + "/" + $0)?.kind == .directory }
    }

    /// Deepest first.
    func visit(_ body: (String) throws(LinuxError) -> Void) throws(LinuxError) {
        try Self.visit(path, body)
    }

    private static func visit(
        _ directory: String,
        _ body: (String) throws(LinuxError) -> Void
    ) throws(LinuxError) {
        let names: [String]
        do throws(LinuxError) {
            names = try Files.list(directory)
        } catch  where error.errno == .noEntry {
            return
        }
        for name in names {
            let below = directory + "/" + name
            if Files.status(below, followLinks: false)?.kind == .directory {
                try visit(below, body)
            }
        }
        try body(directory)
    }

    /// Kills until nobody new is found: a freeze takes a moment, in which some may be born.
    func killAll() throws(LinuxError) {
        var killed: Set<Int32> = []
        while true {
            let fresh = try processes().filter { $0 > 0 && killed.insert($0).inserted }
            if fresh.isEmpty { return }
            try send(SIGKILL, to: fresh)
        }
    }

    /// To every process in it and below. Throws after all have been tried.
    package func signalAll(_ signal: Int32) throws(LinuxError) {
        try send(signal, to: try processes().filter { $0 > 0 })
    }

    /// To those that were seen in it, and to nobody who has got one's number meanwhile. Those that
    /// ended are passed over.
    private func send(_ signal: Int32, to pids: [Int32]) throws(LinuxError) {
        var failure: LinuxError?
        var left = pids[...]
        while !left.isEmpty {
            let held = Held(left.prefix(64))
            left = left.dropFirst(64)
            // Who is held now and has its number listed after that was in here, or is dead.
            let members = Set(try processes())
            held.send(signal, members, &failure)
            if let error = held.failure { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// `key value` lines, as `cpu.stat` has them.
    func value(_ key: String, in file: String) -> Int64? { values([key], in: file)[0] }

    /// Those of several keys, in their order.
    func values(_ keys: [String], in file: String) -> [Int64?] {
        var values = [Int64?](repeating: nil, count: keys.count)
        guard let text = try? Files.text(path + "/" + file, limit: 65_536) else { return values }
        for line in text.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 1)
            guard fields.count == 2, let index = keys.firstIndex(where: { $0 == fields[0] })
            else { continue }
            values[index] = Int64(fields[1])
        }
        return values
    }

    func number(in file: String) -> Int64? {
        guard let text = try? Files.text(path + "/" + file, limit: 256) else { return nil }
        return Int64(text.prefix { $0 != "\n" })
    }

    func has(_ file: String) -> Bool { Files.exists(path + "/" + file) }
}

/// Processes held by descriptor.
private struct Held: ~Copyable {
    private var numbers: [(pid: Int32, descriptor: Int32)] = []
    private(set) var failure: LinuxError?

    init(_ pids: ArraySlice<Int32>) {
        for pid in pids {
            do throws(LinuxError) {
                numbers.append((pid, try PidFD(of: pid).release()))
            } catch {
                if error.errno != .noProcess { failure = error }
            }
        }
    }

    deinit { for (_, descriptor) in numbers { close(descriptor) } }

    borrowing func send(_ signal: Int32, _ members: Set<Int32>, _ failure: inout LinuxError?) {
        for (pid, descriptor) in numbers where members.contains(pid) {
            if clinux_pidfd_send_signal(descriptor, signal) < 0, errno != ESRCH {
                failure = LinuxError("pidfd_send_signal", "process \(pid)", Errno(errno))
            }
        }
    }
}

/// Memory of a group that its programs need not have asked for: from one look into `memory.stat`.
package struct MemoryParts: Equatable, Sendable {
    /// Cached of files, and can be had back.
    package var files: Int64 = 0
    /// In a `tmpfs` or a memfd: it cannot, though what is written there comes without a page fault.
    package var shared: Int64 = 0
    /// What of the peak no page fault can have brought: at least so much was cached of files then,
    /// or was shared, and may be gone since.
    package var unfaulted: Int64 = 0

    package init(files: Int64 = 0, shared: Int64 = 0, unfaulted: Int64 = 0) {
        (self.files, self.shared, self.unfaulted) = (files, shared, unfaulted)
    }
}
