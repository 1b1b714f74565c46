import Linux
import Vocabulary

/// How much a download may write before it looks at its file system again. Some room is left to
/// others there: a server that sends without end fills no disk.
struct Headroom {
    private var granted: Int64 = 0

    /// The hundredth part of a file system is left, and no more than this.
    private static let mostBytes: Int64 = 64 << 20
    /// Other downloads write as much between two looks.
    private static let pieceBytes: Int64 = 1 << 20

    /// Bytes that may still be written; below zero: too little is left already.
    static func room(in space: FileSystemSpace) -> Int64 {
        // It does not say.
        guard space.total > 0 else { return .max }
        return space.free - min(space.total / 100, mostBytes)
    }

    /// So many bytes are about to be written. Throws `noSpace` if too little would be left.
    mutating func take(_ count: Int64, on file: borrowing FileDescriptor) throws(LinuxError) {
        if granted < count { granted = min(Self.room(on: file), max(count, Self.pieceBytes)) }
        guard granted >= count else { throw LinuxError("pwrite", "", .noSpace) }
        granted -= count
    }

    /// All that will be written has its place already.
    mutating func takeReserved(on file: borrowing FileDescriptor) throws(LinuxError) {
        guard Self.room(on: file) >= 0 else { throw LinuxError("fallocate", "", .noSpace) }
        granted = .max
    }

    /// Why so many bytes more do not fit; nil: they do.
    static func shortage(of count: Int64, on file: borrowing FileDescriptor) -> String? {
        let room = room(on: file)
        return room >= count ? nil : "at least \(ByteSize.text(count - room)) are missing"
    }

    private static func room(on file: borrowing FileDescriptor) -> Int64 {
        do throws(LinuxError) {
            return room(in: try file.space())
        } catch {
            // It is seen when it is full.
            return .max
        }
    }
}
