import Linux
import TestKit
import Testing

/// The server that other tests take for a bad one does exactly what it is told.
struct FaultServerTests {
    private let server: FaultServer
    private static let object = VersionedObject(version: 12, size: 1000)

    init() throws {
        server = try FaultServer()
        server.set("/file", .init(Self.object))
    }

    private func connect() throws -> FileDescriptor {
        try InternetSocket.connect(to: InternetAddress(host: "127.0.0.1", port: server.port))
    }

    private func ask(_ socket: borrowing FileDescriptor, _ fields: [String] = []) throws {
        let lines = ["GET /file HTTP/1.1"] + fields + ["", ""]
        try socket.writeAll(Array(lines.joined(separator: "\r\n").utf8).span)
    }

    /// Until the server closes, or has sent so many bytes of a body.
    private func answer(
        _ socket: borrowing FileDescriptor,
        _ count: Int = .max
    ) throws -> (head: String, body: [UInt8]) {
        var bytes: [UInt8] = []
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let head = text[..<end.lowerBound]
                let body = bytes.dropFirst(head.utf8.count + 4)
                if body.count >= count { return (String(head), Array(body)) }
            }
            try Wait.until(readable: socket.number, "more than \(text)")
            let more = try socket.read(upTo: 65_536)
            if more.isEmpty { return (text, []) }
            bytes += more
        }
    }

    private func answer(to fields: [String]) throws -> (head: String, body: [UInt8]) {
        let socket = try connect()
        try ask(socket, fields)
        return try answer(socket, 0)
    }

    @Test func `each of those that are held is released`() throws {
        server.change("/file") { $0.holdsHead = true }
        let one = try connect()
        let other = try connect()
        for round in 1...50 {
            try ask(one)
            try ask(other)
            try server.waitUntilHeld(2 * round)
            server.release("/else")
            #expect(server.answered == 2 * (round - 1))
            server.release()
            #expect(try answer(one, 1000).body == Self.object.all)
            #expect(try answer(other, 1000).body == Self.object.all)
        }
    }

    @Test func `a part is of the version that was asked for, and of no like one`() throws {
        let range = "Range: bytes=600-"
        for (tag, isPart) in [("\"12\"", true), ("\"1\"", false), ("2\"", false), ("", false)] {
            let (head, _) = try answer(to: [range, "If-Range: \(tag)"])
            #expect(head.hasPrefix(isPart ? "HTTP/1.1 206" : "HTTP/1.1 200"), "\(tag): \(head)")
        }
        server.change("/file") { $0.tag = .weak }
        #expect(try answer(to: [range, "If-Range: W/\"12\""]).head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `a part that begins elsewhere is as long as it says`() throws {
        server.change("/file") { $0.rangeShift = 10 }
        let (head, _) = try answer(to: ["Range: bytes=600-"])
        #expect(head.contains("Content-Range: bytes 610-999/1000"))
        #expect(head.contains("Content-Length: 390"))
    }

    @Test func `beyond the end there is no part`() throws {
        let (head, _) = try answer(to: ["Range: bytes=1000-", "If-Range: \"12\""])
        #expect(head.hasPrefix("HTTP/1.1 416") && head.contains("Content-Range: bytes */1000"))
        #expect(try answer(to: ["Range: bytes=1000-", "If-Range: \"1\""]).head.contains(" 200 "))
    }

    @Test func `a part need say nothing of the whole, nor what is beyond the end`() throws {
        for isBrief in [false, true] {
            server.change("/file") { ($0.isBrief, $0.fields) = (isBrief, ["X-Own: a"]) }
            for range in ["600-", "1000-"] {
                let (head, _) = try answer(to: ["Range: bytes=\(range)", "If-Range: \"12\""])
                #expect(head.contains("Content-Range: bytes ") && head.contains("ETag: \"12\""))
                #expect(head.contains("X-Own: a") == !isBrief, "\(head)")
            }
            #expect(try answer(to: []).head.contains("X-Own: a"))
        }
    }

    @Test func `a body in chunks may lack its end only`() throws {
        server.change("/file") { ($0.isChunked, $0.dropsAfter) = (true, 1000) }
        let socket = try connect()
        try ask(socket)
        let chunk = Array("3e8\r\n".utf8) + Self.object.all + Array("\r\n".utf8)
        #expect(try answer(socket, chunk.count).body == chunk)
        try Wait.until(readable: socket.number, "the end of the connection")
        #expect(try socket.read(upTo: 10) == [])
    }

    @Test func `connections end with their server, also those that are held`() throws {
        var other: FaultServer? = try FaultServer()
        other?.set("/file", .init(Self.object))
        other?.change("/file") { $0.holdsHead = true }
        let port = try #require(other?.port)
        let socket = try InternetSocket.connect(to: .init(host: "127.0.0.1", port: port))
        try ask(socket)
        try other?.waitUntilHeld(1)
        other = nil
        try Wait.until(readable: socket.number, "the end of the connection")
        #expect(try socket.read(upTo: 10) == [])
    }
}
