internal import CLinux
internal import Glibc

/// A file that takes the place of another once it is whole: whenever this process ends, either the
/// old or the new bytes are there. One that is dropped unfinished leaves the old ones.
package struct FileReplacement: ~Copyable {
    private let path: String
    private let temporary: String
    private var file: FileDescriptor?
    private var isDone = false

    /// `permissions` nil: those that the old file has, else 0o600. What root replaces stays its
    /// owner's, and what root makes is that of the directory's: a service reads what its operator
    /// writes.
    package static func of(
        _ path: String,
        permissions: UInt32? = nil
    ) throws(LinuxError) -> FileReplacement {
        let temporary = path + ".\(getpid()).new"
        let old = Files.status(path)
        // Left over by a process of the same number.
        try? Files.remove(temporary)
        let file = try FileDescriptor(
            opening: temporary,
            [.writing, .create, .exclusive],
            permissions: permissions ?? 0o600
        )
        let number = file.number
        let replacement = FileReplacement(path, temporary, file)
        if geteuid() == 0, let owner = old ?? Files.status(Files.directory(of: path)) {
            try check(fchown(number, owner.user, owner.group), "chown", temporary)
        }
        if permissions == nil, let old {
            try check(fchmod(number, old.permissions), "chmod", temporary)
        }
        return replacement
    }

    private init(_ path: String, _ temporary: String, _ file: consuming FileDescriptor) {
        self.path = path
        self.temporary = temporary
        self.file = consume file
    }

    deinit { if !isDone { try? Files.remove(temporary) } }

    package func write(_ bytes: Span<UInt8>) throws(LinuxError) {
        do throws(LinuxError) {
            try file?.writeAll(bytes)
        } catch {
            throw named(error)
        }
    }

    /// About the file that it is for: a descriptor's number says nothing to anybody.
    private func named(_ error: LinuxError) -> LinuxError {
        LinuxError(error.operation, path, error.errno)
    }

    /// `synchronized`: false is for what may be lost with the machine's power, and takes no time.
    package mutating func finish(synchronized: Bool = true) throws(LinuxError) {
        guard let file = file.take() else { return }
        do throws(LinuxError) {
            if synchronized { try file.synchronize() }
            try file.close()
        } catch {
            throw named(error)
        }
        try Files.rename(temporary, to: path)
        isDone = true
        guard synchronized else { return }
        try FileDescriptor(opening: Files.directory(of: path), [.reading, .directory])
            .synchronize()
    }
}
