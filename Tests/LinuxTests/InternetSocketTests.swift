import Linux
import Testing
import Vocabulary

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

    @Test func `a name that no host has is an error that says so`() {
        // A blank is in no name, so that nobody is asked for it.
        let error = #expect(throws: LinuxError.self) {
            _ = try InternetSocket.connect(to: InternetAddress(host: "no host", port: 80))
        }
        #expect(error == LinuxError("connect", "no host:80", .noSuchHost))
        #expect("\(error.map { "\($0)" } ?? "")".hasSuffix(": there is no host of that name"))
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

struct IPAddressTests {
    @Test func `addresses and networks are read as they are written`() {
        #expect(IPAddress("192.0.2.1") == IPAddress([192, 0, 2, 1]))
        #expect(IPAddress("::ffff:192.0.2.1") == IPAddress("192.0.2.1"))
        #expect(IPAddress("2001:db8::1")?.high == 0x2001_0DB8_0000_0000)
        for text in ["", "localhost", "192.0.2", "192.0.2.1/24", "::1::"] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
        for text in ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10/8", "/8", "::1/a"] {
            #expect(IPNetwork(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ("0.0.0.0/0", "192.0.2.2", true), ("0.0.0.0/0", "2001:db8::1", false),
        ("::/0", "192.0.2.2", true), ("2001:db8::/32", "2001:db8:ffff::1", true),
        ("2001:db8::/32", "2001:db9::1", false), ("2001:db8::/65", "2001:db8::1", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:1", false), ("::1", "::1", true),
        ("::1", "127.0.0.1", false),
    ])
    func `a network has the addresses that begin as it does`(
        network: String,
        address: String,
        isIn: Bool
    ) throws {
        let address = try #require(IPAddress(address))
        #expect(try #require(IPNetwork(network)).contains(address) == isIn)
    }

    @Test func `a connection knows who is at its other end`() throws {
        for host in ["127.0.0.1", "::1"] {
            let listener = try InternetListener(InternetAddress(host: host, port: 0))
            let client = try InternetSocket.connect(
                to: InternetAddress(host: host, port: listener.port)
            )
            guard let server = try listener.accept() else {
                Issue.record("nobody connected")
                return
            }
            #expect(InternetSocket.peer(of: server) == IPAddress(host))
            #expect(InternetSocket.peer(of: client) == IPAddress(host))
        }
    }
}
