internal import CLinux

/// A file whose bytes are locked to say who lives. A lock belongs to the open file: it ends with
/// the process however that ends, and is never inherited past exec.
package struct LockFile: ~Copyable, Sendable {
    package let path: String
    private let descriptor: FileDescriptor

    /// Opens or makes the file; takes no lock yet.
    package init(_ path: String) throws(LinuxError) {
        self.path = path
        descriptor = try FileDescriptor(opening: path, [.both, .create, .noFollow])
    }

    /// What its path leads to.
    package enum Place: Sendable { case own, nothing, other }

    package var place: Place {
        guard let own = try? descriptor.status(), let found = Files.status(path) else {
            return .nothing
        }
        return found.isSameFile(as: own) ? .own : .other
    }

    /// Takes the exclusive lock of one byte; false when somebody else has it.
    package func tryLock(_ byte: Int64) throws(LinuxError) -> Bool { try take(byte, exclusive: 1) }

    /// Takes a shared lock of one byte; false when somebody else has the exclusive one.
    package func tryLockShared(_ byte: Int64) throws(LinuxError) -> Bool {
        try take(byte, exclusive: 0)
    }

    private func take(_ byte: Int64, exclusive: Int32) throws(LinuxError) -> Bool {
        do throws(LinuxError) {
            try check(clinux_lock_byte(descriptor.number, byte, exclusive, 0), "fcntl", path)
            return true
        } catch  where error.errno == .again || error.errno == .access {
            return false
        }
    }

    /// Blocks until the exclusive lock of a byte is had.
    package func lock(_ byte: Int64) throws(LinuxError) {
        try check(clinux_lock_byte(descriptor.number, byte, 1, 1), "fcntl", path)
    }

    /// Blocks until nobody has the exclusive lock of a byte. Sleeps in the kernel, without timers.
    package func waitUntilFree(_ byte: Int64) throws(LinuxError) {
        try check(clinux_lock_byte(descriptor.number, byte, 0, 1), "fcntl", path)
        try unlock(byte)
    }

    package func unlock(_ byte: Int64) throws(LinuxError) {
        try check(clinux_unlock_byte(descriptor.number, byte), "fcntl", path)
    }

    /// Whether somebody else has the exclusive lock of a byte.
    package func isLocked(_ byte: Int64) throws(LinuxError) -> Bool {
        try check(clinux_byte_is_locked(descriptor.number, byte), "fcntl", path) == 1
    }

    /// Writes who we are into the file; the holder of a lock does so. Each `index` is a line of
    /// its own, of a fixed length, so that a full disk has room for it once there was any.
    package func sign(at index: Int = 0) throws(LinuxError) {
        let pid = CurrentProcess.pid
        let line = "\(pid) \(ProcessIdentity(of: pid)?.startTime ?? 0)"
        let padding = String(repeating: " ", count: Self.line - 1 - line.utf8.count)
        try descriptor.seek(to: Int64(index * Self.line))
        try descriptor.writeAll(line + padding + "\n")
    }

    /// Who signed last, alive or not; nil when nobody did.
    package func signature(at index: Int = 0) throws(LinuxError) -> ProcessIdentity? {
        let bytes = try descriptor.read(at: Int64(index * Self.line), count: Self.line)
        return ProcessIdentity(marker: String(decoding: bytes, as: UTF8.self))
    }

    private static let line = 64
}

extension ProcessIdentity {
    /// The first line of a marker or lock file: `PID STARTTIME`.
    package init?(marker text: String) {
        let line = text.prefix { $0 != "\n" }
        guard line.utf8.count < text.utf8.count else { return nil }
        let fields = line.split(separator: " ")
        guard fields.count == 2, let pid = Int32(fields[0]), pid > 0, let start = UInt64(fields[1])
        else { return nil }
        self.init(pid: pid, startTime: start)
    }
}
