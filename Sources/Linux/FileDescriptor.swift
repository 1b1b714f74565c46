internal import CLinux
internal import Glibc

/// An open descriptor that belongs to this value: closed with it, and at every exec.
package struct FileDescriptor: ~Copyable, Sendable {
    package let number: Int32

    /// Takes over a descriptor that somebody else opened and gives away.
    package init(owning number: Int32) { self.number = number }

    deinit { _ = Glibc.close(number) }

    /// How a file is opened; close-on-exec always.
    package struct Mode: OptionSet, Sendable {
        package let rawValue: Int32
        package init(rawValue: Int32) { self.rawValue = rawValue }
        package static let reading = Mode([])
        package static let writing = Mode(rawValue: O_WRONLY)
        package static let both = Mode(rawValue: O_RDWR)
        package static let append = Mode(rawValue: O_APPEND)
        package static let create = Mode(rawValue: O_CREAT)
        package static let exclusive = Mode(rawValue: O_EXCL)
        package static let truncate = Mode(rawValue: O_TRUNC)
        package static let directory = Mode(rawValue: O_DIRECTORY)
        package static let noFollow = Mode(rawValue: O_NOFOLLOW)
        package static let nonBlocking = Mode(rawValue: O_NONBLOCK)
    }

    package init(
        opening path: String,
        _ mode: Mode,
        permissions: UInt32 = 0o600
    ) throws(LinuxError) {
        number = try checkAgain("open", path) {
            unsafe clinux_open(path, mode.rawValue, permissions)
        }
    }

    /// To know again what is at `path`, whatever becomes of that: it can neither be read nor
    /// written. Locks stay as they are when it is closed.
    package init(knowing path: String) throws(LinuxError) {
        number = try checkAgain("open", path) { unsafe clinux_open_path(path) }
    }

    /// Closes and reports what only closing tells.
    package consuming func close() throws(LinuxError) {
        let number = number
        discard self
        // On Linux the descriptor is gone after EINTR as well.
        if Glibc.close(number) < 0, errno != EINTR {
            throw LinuxError("close", "descriptor \(number)", Errno(errno))
        }
    }

    /// Gives the descriptor away; the caller closes it.
    package consuming func release() -> Int32 {
        let number = number
        discard self
        return number
    }

    package func setNonBlocking(_ on: Bool) throws(LinuxError) {
        try check(clinux_set_nonblocking(number, on ? 1 : 0), "fcntl", "descriptor \(number)")
    }

    /// At most `limit` bytes; empty at the end of the file.
    package func read(upTo limit: Int) throws(LinuxError) -> [UInt8] {
        var failure: LinuxError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            do throws(LinuxError) {
                count = try checkAgain("read", "descriptor \(number)") {
                    unsafe Glibc.read(number, buffer.baseAddress, limit)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// What is there now, at most `limit` bytes: nil when a non-blocking descriptor has nothing
    /// yet, empty at the end.
    package func readAvailable(upTo limit: Int) throws(LinuxError) -> [UInt8]? {
        do {
            return try read(upTo: limit)
        } catch  where error.errno == .again {
            return nil
        }
    }

    /// Everything to the end, at most `limit` bytes. Throws `tooLarge` when there is more.
    package func readAll(limit: Int) throws(LinuxError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try read(upTo: min(65_536, limit + 1 - bytes.count))
            if more.isEmpty { return bytes }
            bytes += more
            if bytes.count > limit {
                throw LinuxError("read", "descriptor \(number)", .tooLarge)
            }
        }
    }

    /// Bytes at `offset`, the position untouched; fewer at the end.
    package func read(at offset: Int64, count: Int) throws(LinuxError) -> [UInt8] {
        var failure: LinuxError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(LinuxError) {
                filled = try checkAgain("pread", "descriptor \(number)") {
                    unsafe pread(number, buffer.baseAddress, count, Int(offset))
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads at most `limit` bytes into `bytes` from `offset` on, the position untouched; returns
    /// how many, 0 at the end.
    package func read(
        at offset: Int64,
        limit: Int,
        into bytes: inout MutableSpan<UInt8>
    ) throws(LinuxError) -> Int {
        try unsafe bytes.withUnsafeMutableBufferPointer { (buffer) throws(LinuxError) in
            try checkAgain("pread", "descriptor \(number)") {
                unsafe pread(number, buffer.baseAddress, min(limit, buffer.count), Int(offset))
            }
        }
    }

    /// Writes what the descriptor takes now; returns how many bytes that were.
    package func write(_ bytes: Span<UInt8>) throws(LinuxError) -> Int {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(LinuxError) in
            try checkAgain("write", "descriptor \(number)") {
                unsafe Glibc.write(number, buffer.baseAddress, buffer.count)
            }
        }
    }

    package func writeAll(_ bytes: Span<UInt8>) throws(LinuxError) {
        var done = 0
        while done < bytes.count {
            done += try write(bytes.extracting(done..<bytes.count))
        }
    }

    package func writeAll(_ text: String) throws(LinuxError) {
        let bytes = Array(text.utf8)
        try writeAll(bytes.span)
    }

    /// Waits until the file's bytes are on the disk.
    package func synchronize() throws(LinuxError) {
        try checkAgain("fsync", "descriptor \(number)") { fsync(number) }
    }

    /// Blocks until it has the file's, or the directory's, exclusive lock, which ends with this.
    package func lock() throws(LinuxError) {
        try check(clinux_lock_file(number, 1), "flock", "descriptor \(number)")
    }

    /// Takes the same lock; false when somebody else has it.
    package func tryLock() throws(LinuxError) -> Bool {
        do throws(LinuxError) {
            try check(clinux_lock_file(number, 0), "flock", "descriptor \(number)")
            return true
        } catch  where error.errno == .again {
            return false
        }
    }

    package func status() throws(LinuxError) -> FileStatus {
        var information = stat()
        try check(unsafe fstat(number, &information), "fstat", "descriptor \(number)")
        return FileStatus(information)
    }

    package func setPermissions(_ permissions: UInt32) throws(LinuxError) {
        try check(fchmod(number, permissions), "fchmod", "descriptor \(number)")
    }

    package func truncate(to size: Int64) throws(LinuxError) {
        try checkAgain("ftruncate", "descriptor \(number)") { ftruncate(number, Int(size)) }
    }

    package func seek(to offset: Int64) throws(LinuxError) {
        try check(lseek(number, Int(offset), SEEK_SET), "lseek", "descriptor \(number)")
    }
}

/// A pipe. Set an end to nil to close it; `take()` gives it away.
package struct Pipe: ~Copyable {
    package var reading: FileDescriptor?
    package var writing: FileDescriptor?

    package init(nonBlocking: Bool = false) throws(LinuxError) {
        var ends: [Int32] = [-1, -1]
        try check(unsafe clinux_pipe(&ends, nonBlocking ? 1 : 0), "pipe2")
        reading = FileDescriptor(owning: ends[0])
        writing = FileDescriptor(owning: ends[1])
    }
}
