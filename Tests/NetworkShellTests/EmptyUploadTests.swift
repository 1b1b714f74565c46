import Linux
import TestKit
import Testing
import Vocabulary
import Wire

/// A file without bytes, of which no byte tells that its request has gone out.
struct EmptyUploadTests {
    private let server: FaultServer
    private let peer: NetworkPeer
    private let scratch = ScratchDirectory()

    init() throws {
        server = try FaultServer()
        peer = try NetworkPeer()
    }

    private func send(to url: String, _ method: UploadMethod) throws -> ExchangeEnd {
        scratch.write([], to: "file")
        let file = try FileDescriptor(opening: scratch("file"), .reading)
        let order = UploadOrder(
            url: url,
            method: method,
            source: try file.status().identity,
            mayRepeat: method == .put
        )
        let id = TransferID(1)
        try peer.send(.upload(id, order), with: file.number)
        return try peer.end(id).end
    }

    @Test(arguments: UploadMethod.allCases)
    func `what a server may have is not to be sent to it again unasked`(
        method: UploadMethod
    ) throws {
        var losing = FaultServer.Upload()
        losing.losesAnswer = true
        server.takeUploads("/up", losing)
        let end = try send(to: server.url("/up"), method)
        #expect(server.files("/up") == [[]])
        #expect(method == .put ? end.cause == .connection : end.failure == .uncertain, "\(end)")
    }

    @Test func `what no server has heard of is tried again`() throws {
        #expect(try send(to: "http://127.0.0.1:1/", .post).cause == .connection)
    }
}
