/// A lock that a process holds on a file: `/proc/locks` and `/proc/PID/fdinfo`.
package struct FileLock: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case posix, flock, openFile, lease, other }

    package var kind: Kind
    package var isExclusive: Bool
    /// As the kernel names it; -1 for locks that belong to an open file, not to a process.
    package var pid: Int32
    package var inode: UInt64
    /// `MAJOR:MINOR` in hexadecimal.
    package var device: String
    /// nil when only the inode is known. A removed file ends in ` (deleted)`.
    package var path: String?

    /// A line such as `1: POSIX  ADVISORY  WRITE 1234 08:01:131073 0 EOF`. nil for one that
    /// waits (`->`) and for anything else.
    package init?(_ line: some StringProtocol) {
        let fields = line.split { $0 == " " || $0 == "\t" }
        guard fields.count >= 6, fields[0].hasSuffix(":"), fields[1] != "->" else { return nil }
        kind =
            switch fields[1] {
            case "POSIX": .posix
            case "FLOCK": .flock
            case "OFDLCK": .openFile
            case "LEASE": .lease
            default: .other
            }
        let file = fields[5].split(separator: ":")
        guard let pid = Int32(fields[4]), file.count == 3, let inode = UInt64(file[2])
        else { return nil }
        (self.pid, self.inode) = (pid, inode)
        isExclusive = fields[3] == "WRITE" || fields[3] == "RW"
        device = file[0] + ":" + file[1]
    }

    /// The locks in a text in the form of `/proc/locks`.
    package static func parse(_ text: String) -> [FileLock] {
        text.split(separator: "\n").compactMap { FileLock($0) }
    }

    /// Every lock that a process holds, with the path where this user may see it. Also a frozen
    /// process; also locks that belong to an open file, which `/proc/locks` has no owner for.
    package static func held(by pid: Int32) -> [FileLock] {
        let directory = "/proc/\(pid)/fdinfo"
        guard let names = try? Files.list(directory) else { return held(byHidden: pid) }
        var locks: [FileLock] = []
        for name in names {
            guard let text = try? Files.text(directory + "/" + name, limit: 1 << 18) else {
                continue
            }
            for line in text.split(separator: "\n") where line.hasPrefix("lock:") {
                guard var lock = FileLock(line.dropFirst(5)) else { continue }
                lock.path = Files.linkTarget("/proc/\(pid)/fd/" + name)
                if !locks.contains(lock) { locks.append(lock) }
            }
        }
        return locks
    }

    /// For a process whose descriptors are hidden from us.
    private static func held(byHidden pid: Int32) -> [FileLock] {
        guard let text = try? Files.text("/proc/locks", limit: 1 << 22) else { return [] }
        return parse(text).filter { $0.pid == pid }
    }
}
