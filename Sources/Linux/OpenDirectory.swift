internal import CLinux
internal import Glibc

/// A directory that stays the same whatever becomes of its path, and the files in it. No link is
/// followed on the way to it, nor in it.
package struct OpenDirectory: ~Copyable, Sendable {
    package let descriptor: FileDescriptor
    private let path: String

    /// `path` must have no link in any of its parts.
    package init(_ path: String) throws(LinuxError) {
        self.path = path
        descriptor = FileDescriptor(
            owning: try checkAgain("open", path) { unsafe clinux_open_directory(path) }
        )
    }

    /// Opens, or makes, a file in it.
    package func open(
        _ name: String,
        _ mode: FileDescriptor.Mode,
        permissions: UInt32 = 0o666
    ) throws(LinuxError) -> FileDescriptor {
        FileDescriptor(
            owning: try checkAgain("open", "\(path)/\(name)") {
                unsafe clinux_open_at(descriptor.number, name, mode.rawValue, permissions)
            }
        )
    }

    /// To know again what has this name, whatever becomes of that: it can neither be read nor
    /// written. A link is not followed.
    package func know(_ name: String) throws(LinuxError) -> FileDescriptor {
        FileDescriptor(
            owning: try checkAgain("open", "\(path)/\(name)") {
                unsafe clinux_know_at(descriptor.number, name)
            }
        )
    }

    /// Without `replacing`, a file of the new name stays as it is, which is the error `exists`.
    package func rename(
        _ name: String,
        to new: String,
        replacing: Bool
    ) throws(LinuxError) {
        try check(
            unsafe clinux_rename_at(descriptor.number, name, new, replacing ? 1 : 0),
            "rename",
            "\(path)/\(new)"
        )
    }

    /// Takes over a file of another directory, under its name. The error is `otherFileSystem` if
    /// that is on another.
    package func take(_ name: String, from other: borrowing OpenDirectory) throws(LinuxError) {
        try check(
            unsafe clinux_move_at(other.descriptor.number, name, descriptor.number),
            "rename",
            "\(other.path)/\(name)"
        )
    }

    /// Seconds since 1970. No link is followed.
    package func setModified(_ time: Int64, of name: String) throws(LinuxError) {
        try check(
            unsafe clinux_set_modified_at(descriptor.number, name, time),
            "utimensat",
            "\(path)/\(name)"
        )
    }

    package func remove(_ name: String) throws(LinuxError) {
        try check(
            unsafe clinux_remove_at(descriptor.number, name),
            "unlink",
            "\(path)/\(name)"
        )
    }

    /// The number of what has this name; nil: nothing has.
    package func inode(of name: String) -> UInt64? {
        var inode: UInt64 = 0
        return unsafe clinux_inode_at(descriptor.number, name, &inode) == 0 ? inode : nil
    }

    /// What has this name; a link is not followed. Nil: nothing has.
    package func status(of name: String) throws(LinuxError) -> FileStatus? {
        var information = stat()
        do {
            try check(
                unsafe fstatat(descriptor.number, name, &information, AT_SYMLINK_NOFOLLOW),
                "fstatat",
                "\(path)/\(name)"
            )
        } catch  where error.errno == .noEntry {
            return nil
        }
        return FileStatus(information)
    }

    /// What was made, renamed or removed in it becomes durable.
    package func synchronize() throws(LinuxError) { try descriptor.synchronize() }
}

/// Of a file system, in bytes.
package struct FileSystemSpace: Hashable, Sendable {
    /// 0: it does not say.
    package var total: Int64
    /// For those without privileges.
    package var free: Int64

    package init(total: Int64, free: Int64) { (self.total, self.free) = (total, free) }
}

extension FileDescriptor {
    /// Of the file system that it is on.
    package func space() throws(LinuxError) -> FileSystemSpace {
        var (total, free): (Int64, Int64) = (0, 0)
        try check(
            unsafe clinux_space(number, &total, &free),
            "fstatvfs",
            "descriptor \(number)"
        )
        return FileSystemSpace(total: total, free: free)
    }

    /// Room for so many bytes from there on, without making the file longer.
    package func reserve(_ count: Int64, at offset: Int64) throws(LinuxError) {
        try check(clinux_reserve(number, offset, count), "fallocate")
    }

    /// Whether `synchronizeFileSystem` is as good as `synchronize` for each file there, and fails
    /// if one of them would.
    package var syncsFilesTogether: Bool { clinux_syncs_files_together(number) != 0 }

    /// All that was written to its file system becomes durable. Fails as well if anything written
    /// there since this file was opened could not.
    package func synchronizeFileSystem() throws(LinuxError) {
        try check(clinux_sync_file_system(number), "syncfs")
    }

    /// All of them, from there on.
    package func writeAll(_ bytes: Span<UInt8>, at offset: Int64) throws(LinuxError) {
        var done = 0
        while done < bytes.count {
            let rest = bytes.extracting(done..<bytes.count)
            done += try unsafe rest.withUnsafeBufferPointer { (buffer) throws(LinuxError) in
                try checkAgain("pwrite", "descriptor \(number)") {
                    unsafe pwrite(number, buffer.baseAddress, buffer.count, Int(offset) + done)
                }
            }
        }
    }
}
