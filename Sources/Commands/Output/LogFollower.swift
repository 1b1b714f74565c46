import CommandTable
import Linux

/// Prints the end of a log and what is appended to it, until the program is interrupted. The log
/// need not be there yet. When it has grown too large its end goes to `PATH.1` and it starts over.
struct LogFollower {
    let path: String
    let console: Console

    /// What is read of a log to find its last lines.
    private static let endLimit: Int64 = 1 << 20
    /// How much of what was printed last is looked for in the older piece.
    private static let overlap = 4096

    func run(lines: Int) throws(LinuxError) {
        let watch = try Inotify()
        _ = try watch.add(Files.directory(of: path), [.modified, .created, .movedTo])
        var inode = Files.status(path)?.inode
        var offset = try size()
        let begin = try read(from: max(0, offset - Self.endLimit))
        offset = max(0, offset - Self.endLimit) + Int64(begin.count)
        console.write(Self.last(lines, of: begin))
        var printed = Array(begin.suffix(Self.overlap))
        while true {
            _ = Poll.ready(watch.descriptor.number, for: .readable, milliseconds: nil)
            _ = try watch.events()
            guard let status = Files.status(path) else { continue }
            if status.inode != inode || status.size < offset {
                let missed = Self.rest(of: older(), after: printed)
                console.write(missed[...])
                printed = []
                (inode, offset) = (status.inode, 0)
            }
            let more = try read(from: offset)
            offset += Int64(more.count)
            console.write(more[...])
            printed = Array((printed + more.suffix(Self.overlap)).suffix(Self.overlap))
        }
    }

    private func size() throws(LinuxError) -> Int64 { Files.status(path)?.size ?? 0 }

    private func read(from offset: Int64) throws(LinuxError) -> [UInt8] {
        do throws(LinuxError) {
            // A pipe in its place would let us wait for a writer.
            let file = try FileDescriptor(opening: path, [.reading, .nonBlocking])
            guard try file.status().kind == .file else {
                throw LinuxError("read", path, .invalid)
            }
            var bytes: [UInt8] = []
            while true {
                let more = try file.read(at: offset + Int64(bytes.count), count: 65_536)
                if more.isEmpty { return bytes }
                bytes += more
            }
        } catch  where error.errno == .noEntry {
            return []
        }
    }

    private func older() -> [UInt8] {
        (try? Files.readRegular(path + ".1", limit: 1 << 30)) ?? []
    }

    /// What comes in the older piece after the text that was printed last; all of it when that is
    /// not in it any more.
    static func rest(of older: [UInt8], after printed: [UInt8]) -> [UInt8] {
        guard !printed.isEmpty else { return older }
        // The piece begins in the middle of what was printed, or holds all of it.
        for length in [printed.count, printed.count / 8, printed.count / 64]
        where length > 0 && length <= older.count {
            let end = printed.suffix(length)
            var start = older.count - length
            while start >= 0 {
                if older[start..<(start + length)].elementsEqual(end) {
                    return Array(older[(start + length)...])
                }
                start -= 1
            }
        }
        return older
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
