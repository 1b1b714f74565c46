import DeviceCore
@testable import DeviceShell
import EventLoop
import Linux
import TestKit
import Testing
import Vocabulary

/// Uploads that were ordered of a network process that ended before it had read the order.
struct UnsentOrderTests {
    private let scratch = ScratchDirectory()
    /// Far more than the socket has room for.
    private static let count: UInt64 = 700

    @Test func `of an upload that was not handed over it is known that nothing was sent`() throws {
        try CurrentProcess.block(signals: [Signal.child])
        let loop = try EventLoop()
        #expect(try Command("mkfifo", scratch("gate")).run().succeeded)
        let text = "#!/bin/sh\nread line < \(scratch("gate"))\n"
        let program = try scratch.write("deaf", text, permissions: 0o755)
        scratch.write("some text", to: "file")
        let identity = try #require(Files.status(scratch("file"))).identity
        var ends: [TransferID: Int64?] = [:]
        let transfers = Transfers(
            loop,
            program: program,
            control: SignalControl(LaunchMarkers(scratch("launches")), refused: []),
            clock: { Clocks.now().wall }
        ) { id, event in
            if case .ended(.interrupted, let durable) = event { ends[id] = durable }
        }
        let path = try #require(Files.resolved(scratch.path))
        let file = UploadFile(directory: path, name: "file")
        let order = UploadOrder(url: "http://a/", source: identity, mayRepeat: false)
        let ids = (1...Self.count).map { TransferID($0) }
        for id in ids { transfers.perform(.upload(order, file), id) }
        #expect(ends.isEmpty)
        try FileDescriptor(opening: scratch("gate"), .writing).writeAll("go\n")
        try Wait.until("the ends of all") {
            ends.count == ids.count
        } step: {
            _ = try loop.runReady()
        }
        #expect(ends[ids[0]] == .some(nil), "it may have been read")
        #expect(ends[ids[ids.count - 1]] == .some(0))
    }
}
