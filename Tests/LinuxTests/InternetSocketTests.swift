import Linux
import Testing

struct InternetSocketTests {
    @Test func `a connection to a listener carries bytes`() throws {
        let listener = try InternetListener(InternetAddress(host: "localhost", port: 0))
        if try listener.accept() != nil { Issue.record("somebody is there already") }
        let client = try InternetSocket.connect(
            to: InternetAddress(host: "localhost", port: listener.port)
        )
        guard let server = try listener.accept() else {
            Issue.record("nobody connected")
            return
        }
        try client.writeAll("hello")
        _ = Poll.ready(server.number, for: .readable, milliseconds: 60_000)
        #expect(try server.readAvailable(upTo: 100) == Array("hello".utf8))
        #expect(try server.readAvailable(upTo: 100) == nil)
    }

    @Test func `nobody listening is an error that names the address`() throws {
        let port = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0)).port
        let error = #expect(throws: LinuxError.self) {
            _ = try InternetSocket.connect(to: InternetAddress(host: "127.0.0.1", port: port))
        }
        #expect(error == LinuxError("connect", "127.0.0.1:\(port)", .refused))
    }

    @Test func `addresses are read as they are written`() {
        for text in ["localhost:443", "192.0.2.1:80", "[2001:db8::1]:443", ":2197"] {
            #expect(InternetAddress(text)?.description == text)
        }
        #expect(InternetAddress("gateway", port: 443)?.description == "gateway:443")
        #expect(InternetAddress("[::1]", port: 443)?.description == "[::1]:443")
        for text in ["localhost", "a:b", "a:70000", "::1:443", ""] {
            #expect(InternetAddress(text) == nil, "\(text)")
        }
    }
}
