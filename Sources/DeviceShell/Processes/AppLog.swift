package import Linux

/// What an app prints: one file per app, appended to by its processes themselves, so that it goes
/// on while no daemon lives. At most about 1.5 times its limit on disk: what is older than the
/// last half goes to `PATH.1`, which is replaced each time.
package struct AppLog: Sendable {
    package let path: String
    /// Bytes.
    package let limit: Int

    package static let usualLimit = 1 << 20

    package init(_ path: String, limit: Int = AppLog.usualLimit) {
        (self.path, self.limit) = (path, limit)
    }

    private var older: String { path + ".1" }

    /// For the output of a program that starts now. Bounds the file first.
    package func open() throws(LinuxError) -> FileDescriptor {
        try bound()
        return try FileDescriptor(opening: path, [.writing, .create, .append, .noFollow])
    }

    /// Shortens the file if it is above its limit; to be called when it has grown. The writers'
    /// descriptors stay valid: they append.
    package func bound() throws(LinuxError) {
        guard let size = Files.status(path, followLinks: false)?.size, size > limit else { return }
        let file = try FileDescriptor(opening: path, [.both, .noFollow])
        let kept = try file.read(at: max(0, size - Int64(limit / 2)), count: limit / 2)
        // From the first whole line on.
        let start = kept.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let rest = Array(kept[start...])
        defer {
            // What is written between the reading and this is lost: a few lines of a flood. Where
            // the copy does not fit either, all of it is: better than a disk that stays full.
            try? file.truncate(to: 0)
        }
        try Files.replace(older, with: rest.span, synchronized: false)
    }

    /// The end of it: at most `lines` lines and `bytes` bytes, the oldest first.
    package func tail(lines: Int, bytes: Int = 256 << 10) throws(LinuxError) -> String {
        var text = try end(of: path, bytes)
        if text.count < bytes { text = try end(of: older, bytes - text.count) + text }
        var count = 0
        var start = text.count
        if text.last == UInt8(ascii: "\n") { start -= 1 }
        while start > 0 {
            if text[start - 1] == UInt8(ascii: "\n") {
                count += 1
                if count == lines { break }
            }
            start -= 1
        }
        guard lines > 0 else { return "" }
        return String(decoding: text[start...], as: UTF8.self)
    }

    private func end(of path: String, _ limit: Int) throws(LinuxError) -> [UInt8] {
        do throws(LinuxError) {
            let file = try FileDescriptor(opening: path, [.reading, .noFollow])
            let size = Files.status(path)?.size ?? 0
            return try file.read(at: max(0, size - Int64(limit)), count: limit)
        } catch  where error.errno == .noEntry {
            return []
        }
    }
}
