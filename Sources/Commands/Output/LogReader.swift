import Linux

/// Prints the pieces of a log, oldest first, and follows the newest.
struct LogReader {
    /// Paths, oldest first.
    let files: [String]
    let console: Console

    /// The daemon's own limit for a piece is far below.
    private static let limit = 1 << 31

    /// Prints all, or the last `lines` lines of all pieces together.
    func print(lines: Int?) throws(LinuxError) {
        var text: [UInt8] = []
        for file in files {
            do throws(LinuxError) {
                text += try Files.read(file, limit: Self.limit)
            } catch  where error.errno == .noEntry {
                // It wrote nothing, or has begun a new piece just now.
                continue
            }
        }
        console.write(Self.last(lines, of: text))
    }

    /// The last `count` lines; a last line without an end counts.
    static func last(_ count: Int?, of text: [UInt8]) -> ArraySlice<UInt8> {
        guard let count else { return text[...] }
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

    /// Prints what is appended, for ever; a piece that was started anew is read from its start.
    func follow() throws(LinuxError) {
        guard let path = files.last else { return }
        let watch = try Inotify()
        _ = try watch.add(Files.directory(of: path), [.modified, .created, .movedTo])
        var inode = Files.status(path)?.inode
        var offset = Files.status(path)?.size ?? 0
        while true {
            if let status = Files.status(path) {
                if status.inode != inode || status.size < offset {
                    (inode, offset) = (status.inode, 0)
                }
                let file = try FileDescriptor(opening: path, .reading)
                while true {
                    let bytes = try file.read(at: offset, count: 65_536)
                    if bytes.isEmpty { break }
                    offset += Int64(bytes.count)
                    console.write(bytes[...])
                }
            }
            _ = Poll.ready(watch.descriptor.number, for: .readable, milliseconds: nil)
            _ = try watch.events()
        }
    }
}
