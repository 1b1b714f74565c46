package import Linux

/// What an app prints: one file per app, appended to by its processes themselves, so that it goes
/// on while no daemon lives. At most 1.75 times its limit on disk, and more for the moment that it
/// takes to shorten it (`LogBounds`): its last half goes to `PATH.1`, which is replaced each time,
/// and up to a quarter that is written meanwhile.
package struct AppLog: Sendable {
    package let path: String
    /// Bytes.
    package let limit: Int

    package static let usualLimit = 1 << 20

    /// How much is copied at a time.
    private static let piece = 1 << 20

    package init(_ path: String, limit: Int = AppLog.usualLimit) {
        (self.path, self.limit) = (path, limit)
    }

    private var older: String { path + ".1" }

    /// Bytes in it; 0 where there is none.
    var size: Int64 { Files.status(path, followLinks: false)?.size ?? 0 }

    /// For the output of a program that starts now. Bounds the file first.
    package func open() throws(LinuxError) -> FileDescriptor {
        try bound()
        return try openUnbounded()
    }

    /// The same where somebody else bounds it.
    func openUnbounded() throws(LinuxError) -> FileDescriptor {
        // A pipe in its place would let us wait for a reader.
        let file = try FileDescriptor(
            opening: path,
            [.writing, .create, .append, .noFollow, .nonBlocking]
        )
        guard try file.status().kind == .file else {
            throw LinuxError("open", path, .noDeviceOrAddress)
        }
        try file.setNonBlocking(false)
        return file
    }

    /// Shortens the file if it is above its limit; to be called when it has grown. The writers'
    /// descriptors stay valid: they append.
    package func bound() throws(LinuxError) {
        let size = size
        guard size > limit else { return }
        let file = try FileDescriptor(opening: path, [.both, .noFollow])
        var at = max(0, size - Int64(limit / 2))
        var piece = try file.read(at: at, count: min(limit / 2, Self.piece))
        // Somebody else has shortened it meanwhile.
        guard !piece.isEmpty else { return }
        defer {
            // What is written between the last reading and this is lost: a line or two of a flood.
            // Where the copy does not fit either, all of it is: better than a disk that stays full.
            try? file.truncate(to: 0)
        }
        var replacement = try FileReplacement.of(older)
        var left = limit / 2
        var start = Self.lineStart(in: piece)
        while !piece.isEmpty {
            try replacement.write(piece.span.extracting(start...))
            (left, at, start) = (left - piece.count, at + Int64(piece.count), 0)
            piece = left > 0 ? try file.read(at: at, count: min(left, Self.piece)) : []
        }
        try finish(&replacement)
        try keepRest(of: file, from: at)
    }

    /// Adds to the older piece what has been written while it was made: a program that ends has
    /// said why in its last lines.
    private func keepRest(
        of file: borrowing FileDescriptor,
        from start: Int64
    ) throws(LinuxError) {
        let older = try FileDescriptor(opening: older, [.writing, .append, .noFollow])
        var left = limit / 4
        // Of a flood its end.
        var at = max(start, try file.status().size - Int64(left))
        var isCut = at > start
        while left > 0 {
            let piece = try file.read(at: at, count: min(left, Self.piece))
            if piece.isEmpty { return }
            let first = isCut ? Self.lineStart(in: piece) : 0
            try older.writeAll(piece.span.extracting(first...))
            (at, left, isCut) = (at + Int64(piece.count), left - piece.count, false)
        }
    }

    /// To be handed to `cut`, again and again: the disk is made to write at each closing of a file
    /// that was cut.
    func openForCutting() throws(LinuxError) -> FileDescriptor {
        try FileDescriptor(opening: path, [.both, .noFollow])
    }

    /// Takes all of it away but the end, which is returned, for `keep(end:)`: waits for nothing
    /// but whoever writes just now.
    func cut(_ file: borrowing FileDescriptor, keeping count: Int) throws(LinuxError) -> [UInt8] {
        // Its size of now: a flood has gone on since it was looked at.
        let size = try file.status().size
        let count = min(count, limit / 2)
        // More than that where it grows while it is read.
        let end = try file.read(at: max(0, size - Int64(count)), count: 2 * count)
        try file.truncate(to: 0)
        return end
    }

    /// Keeps what `cut` returned as the older piece, from its first whole line on.
    func keep(end: [UInt8]) throws(LinuxError) {
        var replacement = try FileReplacement.of(older)
        try replacement.write(end.span.extracting(Self.lineStart(in: end)...))
        try finish(&replacement)
    }

    private func finish(_ replacement: inout FileReplacement) throws(LinuxError) {
        // Some file systems write a file out at once that takes the place of another, and let us
        // wait for their disk meanwhile.
        try? Files.remove(older)
        try replacement.finish(synchronized: false)
    }

    /// Where a line begins in what was cut; a character where no line does for a long while.
    private static func lineStart(in text: [UInt8]) -> Int {
        for index in 0..<min(4096, text.count) where text[index] == UInt8(ascii: "\n") {
            return index + 1
        }
        return characterStart(in: text)
    }

    /// The same of a character: UTF-8 continues one in at most three bytes.
    private static func characterStart(in text: [UInt8]) -> Int {
        text.prefix(3).prefix { $0 & 0xC0 == 0x80 }.count
    }

    /// The end of it: at most `lines` lines and `bytes` bytes, the oldest first.
    package func tail(lines: Int, bytes: Int = 256 << 10) throws(LinuxError) -> [UInt8] {
        // With a byte more it is seen whether it is cut.
        var text = try end(of: path, bytes + 1)
        if text.count <= bytes { text = try end(of: older, bytes + 1 - text.count) + text }
        if text.count > bytes {
            text.removeFirst(text.count - bytes)
            text.removeFirst(Self.characterStart(in: text))
        }
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
        return lines > 0 ? Array(text[start...]) : []
    }

    private func end(of path: String, _ limit: Int) throws(LinuxError) -> [UInt8] {
        do throws(LinuxError) {
            let file = try FileDescriptor(opening: path, [.reading, .noFollow, .nonBlocking])
            let status = try file.status()
            guard status.kind == .file else { return [] }
            let size = status.size
            return try file.read(at: max(0, size - Int64(limit)), count: limit)
        } catch  where error.errno == .noEntry {
            return []
        }
    }
}
