@testable import DeviceShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Which files of uploads are kept open.
struct HeldSourceTests {
    private let folder = ScratchDirectory()

    private func take(_ path: String, _ sources: HeldSources) throws -> HeldSource? {
        sources.take(try FileDescriptor(opening: path, .reading))
    }

    private func hold(_ path: String, for id: TransferID, _ sources: inout HeldSources) throws {
        let source = try take(path, sources)
        sources.hold(try #require(source), for: id)
    }

    @Test func `so many are held, and whoever has ended makes room for another`() throws {
        let path = try folder.write("file", "some text")
        var sources = HeldSources()
        for number in 1...HeldSources.most {
            // What the core does not take gives its place back.
            _ = try take(path, sources)
            try hold(path, for: TransferID(UInt64(number)), &sources)
        }
        let isFull = try take(path, sources) == nil
        sources.release(TransferID(7))
        let hasRoom = try take(path, sources) != nil
        #expect(isFull && hasRoom)
    }

    @Test func `the first file of a transfer is held, wherever it is, as long as it is the same`()
        throws
    {
        let path = try folder.write("file", "some text")
        let identity = try #require(Files.status(path)).identity
        var sources = HeldSources()
        func isThere(_ id: TransferID) -> Bool { sources.file(of: id, identity) != nil }
        try hold(path, for: TransferID(1), &sources)
        try Files.rename(path, to: folder("moved"))
        try hold(try folder.write("file", "other text"), for: TransferID(1), &sources)
        #expect(isThere(TransferID(1)) && !isThere(TransferID(2)))
        try FileDescriptor(opening: folder("moved"), [.writing, .append]).writeAll("more")
        #expect(!isThere(TransferID(1)))
    }
}
