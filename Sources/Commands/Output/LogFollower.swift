import Linux

/// Prints the end of a file and what is appended to it, until the program is interrupted.
struct LogFollower {
    let path: String
    let console: Console

    func run(lines: Int) throws(LinuxError) {
        let watch = try Inotify()
        _ = try watch.add(Files.directory(of: path), [.modified, .created, .movedTo])
        var text = try Files.read(path, limit: 1 << 30)
        var inode = Files.status(path)?.inode
        var offset = Int64(text.count)
        console.write(Self.last(lines, of: text))
        text = []
        while true {
            _ = Poll.ready(watch.descriptor.number, for: .readable, milliseconds: nil)
            _ = try watch.events()
            guard let status = Files.status(path) else { continue }
            // It was started anew: the piece before it has been read to its end.
            if status.inode != inode || status.size < offset { (inode, offset) = (status.inode, 0) }
            offset += try copy(from: offset)
        }
    }

    /// Prints from `offset` to the end; returns how much that was.
    private func copy(from offset: Int64) throws(LinuxError) -> Int64 {
        let file = try FileDescriptor(opening: path, .reading)
        var count: Int64 = 0
        while true {
            let bytes = try file.read(at: offset + count, count: 65_536)
            if bytes.isEmpty { return count }
            count += Int64(bytes.count)
            console.write(bytes[...])
        }
    }

    /// The last `count` lines; a last line without an end counts.
    static func last(_ count: Int, of text: [UInt8]) -> ArraySlice<UInt8> {
        guard count > 0, !text.isEmpty else { return [] }
        var left = count
        var start = text.count - (text.last == UInt8(ascii: "\n") ? 1 : 0)
        while start > 0 {
            if text[start - 1] == UInt8(ascii: "\n") {
                left -= 1
                if left == 0 { break }
            }
            start -= 1
        }
        return text[start...]
    }
}
