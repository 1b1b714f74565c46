internal import DeviceCore
internal import Linux
internal import Vocabulary

/// Files that apps want to be sent. An app may be able to read less than the daemon, so it does not
/// name a file but shows one: a descriptor, open for reading.
extension UploadSource {
    static func file(
        _ number: Int64,
        of process: ProcessID
    ) throws(Refusal) -> OpenSource {
        do throws(LinuxError) {
            return try shown(number, by: process)
        } catch {
            throw Refusal(
                .invalid,
                reason: Self.reason(error),
                value: "descriptor \(number)",
                fix: "open a file for reading, and keep it where it is"
            )
        }
    }

    private static func reason(_ error: LinuxError) -> String {
        switch error.errno {
        case .invalid: "this is no file"
        case .access: "this is not open for reading"
        case .stale, .loop, .noEntry, .notDirectory: "this file is not to be found by its path"
        case .notSupported: "this kernel does not tell which file a process has open (5.14 does)"
        default: "\(error)"
        }
    }

    private static func shown(
        _ number: Int64,
        by process: ProcessID
    ) throws(LinuxError) -> OpenSource {
        let path = "/proc/\(process.pid)/fd/\(number)"
        // Nothing else is even opened.
        guard let there = Files.status(path) else { throw LinuxError("open", path, .invalid) }
        guard there.kind == .file else { throw LinuxError("open", path, .invalid) }
        let own = try FileDescriptor(opening: path, [.reading, .nonBlocking])
        let status = try own.status()
        guard status.kind == .file else { throw LinuxError("open", path, .invalid) }
        // The process may put another file under that number at any moment. What it has there is
        // told in one piece: it is this file, and open for reading.
        let theirs = try OpenFileRecord("/proc/\(process.pid)/fdinfo/\(number)")
        let ours = try OpenFileRecord("/proc/self/fdinfo/\(own.number)")
        guard theirs.isReadable, theirs.isSameFile(as: ours) else {
            throw LinuxError("open", path, .access)
        }
        let identity = ProcessIdentity(pid: process.pid, startTime: process.startTime)
        guard identity.isAlive else { throw LinuxError("open", path, .noProcess) }
        let target = Files.linkTarget("/proc/self/fd/\(own.number)") ?? ""
        let file = UploadFile(
            directory: Files.directory(of: target),
            name: Files.name(of: target)
        )
        let found = try OpenDirectory(file.directory).open(file.name, [.reading, .nonBlocking])
        guard try found.status().isSameFile(as: status) else {
            throw LinuxError("open", target, .stale)
        }
        return OpenSource(file: file, identity: status.identity, descriptor: own)
    }
}

/// What the system tells of an open descriptor (`/proc/PID/fdinfo/NUMBER`).
struct OpenFileRecord {
    private var flags: UInt64 = 0
    private var mount = ""
    private var inode = ""

    init(_ path: String) throws(LinuxError) {
        self.init(text: try Files.text(path, limit: 65_536))
        guard !mount.isEmpty, !inode.isEmpty else {
            throw LinuxError("read", path, .notSupported)
        }
    }

    init(text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
            guard words.count == 2 else { continue }
            switch words[0] {
            case "flags:": flags = UInt64(words[1], radix: 8) ?? UInt64.max
            case "mnt_id:": mount = String(words[1])
            case "ino:": inode = String(words[1])
            default: break
            }
        }
    }

    /// Opened for reading, or for both; not only to know it again (`O_PATH`).
    var isReadable: Bool { flags & 0o3 != 0o1 && flags & 0o3 != 0o3 && flags & 0o10000000 == 0 }

    func isSameFile(as other: OpenFileRecord) -> Bool {
        mount == other.mount && inode == other.inode
    }
}
