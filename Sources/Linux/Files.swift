internal import CLinux
internal import Glibc
package import Vocabulary

/// Files by path: read whole, replaced whole, listed.
package enum Files {
    /// The whole file, at most `limit` bytes. Throws `tooLarge` when there is more.
    package static func read(_ path: String, limit: Int = 1 << 20) throws(LinuxError) -> [UInt8] {
        let file = try FileDescriptor(opening: path, .reading)
        do {
            return try file.readAll(limit: limit)
        } catch {
            throw LinuxError(error.operation, path, error.errno)
        }
    }

    /// The same of a file with bytes of its own: what would keep a reader waiting (a pipe, a
    /// terminal) is refused as `invalid`.
    package static func readRegular(_ path: String, limit: Int) throws(LinuxError) -> [UInt8] {
        let file = try FileDescriptor(opening: path, [.reading, .nonBlocking])
        guard try file.status().kind == .file else {
            throw LinuxError("read", path, .invalid)
        }
        do {
            return try file.readAll(limit: limit)
        } catch {
            throw LinuxError(error.operation, path, error.errno)
        }
    }

    /// The same as text, ill-formed bytes replaced.
    package static func text(_ path: String, limit: Int = 1 << 20) throws(LinuxError) -> String {
        String(decoding: try read(path, limit: limit), as: UTF8.self)
    }

    /// One write to a file that exists, as the files of the kernel want it.
    package static func set(_ path: String, to text: String) throws(LinuxError) {
        let file = try FileDescriptor(opening: path, [.writing, .truncate])
        let bytes = Array(text.utf8)
        do {
            _ = try file.write(bytes.span)
        } catch {
            throw LinuxError(error.operation, path, error.errno)
        }
    }

    /// Replaces the file so that after a crash either the old or the new bytes are there, whole;
    /// see `FileReplacement`.
    package static func replace(
        _ path: String,
        with bytes: Span<UInt8>,
        permissions: UInt32? = nil,
        synchronized: Bool = true
    ) throws(LinuxError) {
        var replacement = try FileReplacement.of(path, permissions: permissions)
        try replacement.write(bytes)
        try replacement.finish(synchronized: synchronized)
    }

    package static func replace(
        _ path: String,
        with text: String,
        permissions: UInt32? = nil,
        synchronized: Bool = true
    ) throws(LinuxError) {
        let bytes = Array(text.utf8)
        try replace(
            path,
            with: bytes.span,
            permissions: permissions,
            synchronized: synchronized
        )
    }

    /// Makes a directory; false when there was one. `parents` makes those above it too.
    @discardableResult
    package static func makeDirectory(
        _ path: String,
        permissions: UInt32 = 0o700,
        parents: Bool = false
    ) throws(LinuxError) -> Bool {
        do throws(LinuxError) {
            try check(unsafe mkdir(path, permissions), "mkdir", path)
            return true
        } catch {
            if error.errno == .exists, status(path)?.kind == .directory { return false }
            let above = directory(of: path)
            guard parents, error.errno == .noEntry, above != path else { throw error }
            try makeDirectory(above, permissions: permissions, parents: true)
            return try makeDirectory(path, permissions: permissions)
        }
    }

    package static func removeDirectory(_ path: String) throws(LinuxError) {
        try check(unsafe rmdir(path), "rmdir", path)
    }

    package static func remove(_ path: String) throws(LinuxError) {
        try check(unsafe unlink(path), "unlink", path)
    }

    package static func rename(_ path: String, to other: String) throws(LinuxError) {
        try check(unsafe Glibc.rename(path, other), "rename", path)
    }

    package static func setPermissions(_ path: String, _ mode: UInt32) throws(LinuxError) {
        try check(unsafe chmod(path, mode), "chmod", path)
    }

    /// Where a link points, nil when it is none or cannot be read.
    package static func linkTarget(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = unsafe readlink(path, &buffer, Int(PATH_MAX))
        return count < 0 ? nil : String(nullTerminated: buffer)
    }

    /// The path of the same file without links, `..` and slashes too many; nil when nothing is
    /// there.
    package static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The directory itself when there is one, else the nearest above it that there is.
    package static func nearestDirectory(_ path: String) -> String {
        var path = path
        while status(path)?.kind != .directory, path != "/", path != "." {
            path = directory(of: path)
        }
        return path
    }

    /// Names in a directory, sorted, without `.` and `..`.
    package static func list(_ path: String) throws(LinuxError) -> [String] {
        guard let directory = unsafe opendir(path) else {
            throw LinuxError("opendir", path, Errno(errno))
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while true {
            // Its end and an error look alike but for this.
            errno = 0
            guard let entry = unsafe readdir(directory) else {
                guard errno == 0 else { throw LinuxError("readdir", path, Errno(errno)) }
                break
            }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Makes a directory that only this user may enter, with a name that nobody could know: the
    /// prefix and six letters or digits.
    package static func makeUniqueDirectory(_ prefix: String) throws(LinuxError) -> String {
        var template = Array("\(prefix)XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw LinuxError("mkdtemp", prefix, Errno(errno))
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes a file, or a directory with everything below it. Follows no links.
    package static func removeTree(_ path: String) throws(LinuxError) {
        if status(path, followLinks: false)?.kind == .directory {
            for name in try list(path) { try removeTree(path + "/" + name) }
            try removeDirectory(path)
        } else {
            try remove(path)
        }
    }

    /// What is at a path; nil when nothing is, or nothing that this user may look at.
    package static func status(_ path: String, followLinks: Bool = true) -> FileStatus? {
        var information = stat()
        let result = unsafe followLinks ? stat(path, &information) : lstat(path, &information)
        return result == 0 ? FileStatus(information) : nil
    }

    package static func exists(_ path: String) -> Bool { status(path) != nil }

    /// Whether nothing is there; false when that cannot be seen.
    package static func isMissing(_ path: String) -> Bool {
        var information = stat()
        guard unsafe stat(path, &information) != 0 else { return false }
        return errno == ENOENT || errno == ENOTDIR
    }

    /// Whether this user may run the file.
    package static func isExecutable(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && status(path)?.kind == .file
    }

    package static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    /// Whether this user may write to the file, or make files in the directory.
    package static func isWritable(_ path: String) -> Bool { unsafe access(path, W_OK) == 0 }

    /// Why this user cannot do so; nil: it can.
    package static func writingProblem(_ path: String) -> Errno? {
        unsafe access(path, W_OK) == 0 ? nil : Errno(errno)
    }

    /// The part of a path before its last `/`; `.` when there is none.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The part of a path after its last `/`.
    package static func name(of path: String) -> String {
        String(
            decoding: path.utf8.reversed().prefix { $0 != UInt8(ascii: "/") }.reversed(),
            as: UTF8.self
        )
    }

    /// The path that a shell would run for `name`: itself when it holds a `/`, else the first
    /// executable in the directories of `searchPath` (separated by `:`).
    package static func executable(_ name: String, searchPath: String) -> String? {
        if name.utf8.contains(UInt8(ascii: "/")) { return name }
        for directory in searchPath.split(separator: ":") {
            let path = directory + "/" + name
            if isExecutable(path) { return path }
        }
        return nil
    }

    package static func currentDirectory() throws(LinuxError) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        guard unsafe getcwd(&buffer, buffer.count) != nil else {
            throw LinuxError("getcwd", "", Errno(errno))
        }
        return String(nullTerminated: buffer)
    }
}

/// What the system knows of a file.
package struct FileStatus: Equatable, Sendable {
    package enum Kind: Sendable {
        case file, directory, link, socket, pipe, other

        /// As a person calls it.
        package var noun: String {
            switch self {
            case .file: "a file"
            case .directory: "a directory"
            case .link: "a link"
            case .socket: "a socket"
            case .pipe: "a pipe"
            case .other: "a device"
            }
        }
    }

    package var kind: Kind
    package var size: Int64
    /// What it takes of the disk: less than its size, or more.
    package var allocated: Int64
    /// Permission bits, such as 0o600.
    package var permissions: UInt32
    package var user: UInt32
    package var group: UInt32
    package var device: UInt64
    package var inode: UInt64
    /// Names that it has; 0: it was deleted, and is only open.
    package var links: UInt64
    /// Nanoseconds since 1970.
    package var modified: Int64
    /// The same for a change of any kind (ctime): no program can set it.
    package var changed: Int64

    /// What tells the file from another, or from itself after a change.
    package var identity: FileIdentity {
        // Some file systems use the highest bit, for which a stored number has no room.
        FileIdentity(size: size, modified: modified, inode: inode & UInt64(Int64.max))
    }

    init(_ information: stat) {
        kind =
            switch information.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            case S_IFSOCK: .socket
            case S_IFIFO: .pipe
            default: .other
            }
        size = Int64(information.st_size)
        // Blocks of 512 bytes, whatever the file system has.
        allocated = Int64(information.st_blocks) * 512
        permissions = UInt32(information.st_mode & 0o7777)
        (user, group) = (information.st_uid, information.st_gid)
        (device, inode) = (UInt64(information.st_dev), UInt64(information.st_ino))
        links = UInt64(information.st_nlink)
        modified = Self.nanoseconds(information.st_mtim)
        changed = Self.nanoseconds(information.st_ctim)
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Whether two paths led to the same file.
    package func isSameFile(as other: FileStatus) -> Bool {
        device == other.device && inode == other.inode
    }
}
