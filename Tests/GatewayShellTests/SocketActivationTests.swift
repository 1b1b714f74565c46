import GatewayShell
import Glibc
import Linux
import Synchronization
import TestKit
import Testing

/// Listening sockets that a service manager keeps, over the end of one gateway and the start of the
/// next.
struct SocketActivationTests {
    private typealias Raw = RawConnection
    private typealias Handed = (name: String, number: Int32)

    private final class Socket: Sendable {
        let listener: InternetListener

        init() throws {
            listener = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0))
            // As service managers make them.
            try listener.descriptor.setNonBlocking(false)
        }

        var number: Int32 { listener.descriptor.number }
        var port: UInt16 { listener.port }
    }

    private static let generous = "token-burst = 100000000\ntoken-rate = 100000000\n"

    // MARK: A restart

    /// Sends over one connection after the other, each until it is told to go or has sent enough.
    private final class Sender: Sendable {
        let port: UInt16
        let authority: String
        let path: String
        let fields: [(String, String)]
        /// Gets a byte for each push that was answered.
        let pushed: SharedPipe
        let problems = Mutex<[String]>([])

        init(_ gateway: ScratchGateway, _ port: UInt16, _ token: String) throws {
            (self.port, authority, path) = (port, gateway.paths.authority, "/3/device/" + token)
            fields = [
                ("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer()),
            ]
            pushed = try SharedPipe()
        }

        func send(until stopped: Int32) {
            while !Poll.ready(stopped, for: .readable, milliseconds: 0) {
                do {
                    try push(over: try Raw.connect(port), 20)
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }

        /// Throws where a push was not answered although nobody said that it would not be.
        func push(over socket: consuming FileDescriptor, _ count: UInt32) throws {
            let raw = try Raw(socket, trusting: authority)
            raw.send(Raw.preface + Raw.settings)
            for number in 0..<count {
                let stream = 2 * number + 1
                raw.send(Raw.frame(1, 4, stream, Raw.request(path, fields)))
                raw.send(Raw.frame(0, 1, stream, Array("{}".utf8)))
                let frames = raw.frames { $0.stream == stream && $0.flags & 1 != 0 }
                let isTold = frames.contains { $0.type == 7 }
                if let last = frames.last, last.stream == stream, last.type == 1 {
                    try pushed.writing.writeAll("x")
                } else if !isTold {
                    throw DidNotHappen(description: "the answer: \(frames)")
                }
                if isTold { return }
            }
        }

        /// Waits until so many more pushes were answered.
        func wait(_ count: Int) throws {
            var rest = count
            while rest > 0 {
                try Wait.until(readable: pushed.reading.number, "a push that is answered")
                rest -= try pushed.reading.read(upTo: rest).count
            }
        }
    }

    @Test func `a restart on sockets that are kept refuses nobody`() async throws {
        try await ServingThread.value {
            let gateway = try ScratchGateway(settings: Self.generous)
            let token = try gateway.register(1)[0]
            let (providers, devices) = (try Socket(), try Socket())
            let handed = [("devices", devices.number), ("providers", providers.number)]
            try gateway.start(sockets: handed)
            #expect((gateway.port, gateway.devicePort) == (providers.port, devices.port))
            let sender = try Sender(gateway, providers.port, token)
            let threads = try (0..<2).map { _ in try ServingThread { sender.send(until: $0) } }
            for _ in 0..<3 {
                try sender.wait(60)
                #expect(try gateway.terminate() == .exited(0))
                // Nobody serves now.
                var waiting: [SharedDescriptor] = []
                for _ in 0..<10 {
                    waiting.append(SharedDescriptor(try Raw.connect(providers.port)))
                }
                let device = try Raw.connect(devices.port)
                try gateway.start(sockets: handed)
                for socket in waiting {
                    let number = dup(socket.descriptor.number)
                    try sender.push(over: FileDescriptor(owning: number), 1)
                }
                _ = device
            }
            try sender.wait(60)
            withExtendedLifetime(threads) {}
            #expect(sender.problems.withLock { $0 } == [])
        }
    }

    @Test(arguments: ["h2", "http/1.1"])
    func `who has connected before the end and asks then is answered`(spoken: String) throws {
        let gateway = try ScratchGateway(settings: "drain-time = 1h\n")
        let token = try gateway.register(1)[0]
        try gateway.start()
        let early = try Raw.connect(gateway.port)
        // The second is taken after the first.
        let other = try Raw(gateway)
        other.send(Raw.preface + Raw.settings)
        try gateway.signal(Signal.terminate)
        _ = other.frames { $0.type == 7 }
        let raw = try Raw(early, trusting: gateway.paths.authority, [spoken])
        if spoken == "h2" {
            let fields = [
                ("apns-topic", ScratchGateway.topic), ("authorization", try gateway.bearer()),
            ]
            raw.send(Raw.preface + Raw.settings)
            raw.send(Raw.frame(1, 4, 1, Raw.request("/3/device/" + token, fields)))
            raw.send(Raw.frame(0, 1, 1, Array("{}".utf8)))
            let frames = raw.frames()
            #expect(frames.contains { $0.type == 1 && $0.stream == 1 && $0.flags & 1 != 0 })
            #expect(frames.last { $0.type == 7 }?.code == 0)
        } else {
            let request = Array("GET / HTTP/1.1\r\nhost: l\r\n\r\n".utf8)
            raw.send(request + request)
            let text = raw.text()
            #expect(text.contains("connection: close"))
            #expect(text.split(separator: "HTTP/1.1 ").count == 1, "the second is not asked for")
        }
        #expect(raw.isClosed)
    }

    // MARK: Which sockets

    private func failure(_ sockets: [Handed]) throws -> String {
        let gateway = try ScratchGateway()
        let outcome = try GatewayProcess.command(gateway.directory.path, sockets).run()
        #expect(!outcome.succeeded)
        return outcome.errors
    }

    @Test func `a socket that cannot be served is refused in words`() throws {
        let good = try Socket()
        for (name, kind) in [("datagrams", SOCK_DGRAM), ("streams", SOCK_STREAM)] {
            let number = socket(AF_INET, Int32(kind.rawValue), 0)
            let made = FileDescriptor(owning: number)
            let problem = name == "streams" ? "does not listen" : "is no TCP socket"
            #expect(
                try failure([("providers", made.number)]).contains(
                    "the socket \"providers\" of the service manager \(problem)"
                )
            )
        }
        let local = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
        #expect(try failure([("metrics", local.number)]).contains("\"metrics\""))
        #expect(try failure([("metrics", local.number)]).contains("is not an internet socket"))
        let pipe = try SharedPipe()
        #expect(try failure([("devices", pipe.reading.number)]).contains("is not a socket"))
        let strange = try failure([("submission", good.number)])
        #expect(strange.contains("\"submission\" of the service manager is not known"))
        #expect(strange.contains("providers, devices, metrics"))
        let twice = try failure([("devices", good.number), ("devices", good.number)])
        #expect(twice.contains("came twice"))
    }

    @Test func `what is not handed over is listened to as the settings say`() throws {
        let gateway = try ScratchGateway(settings: "metrics = 127.0.0.1:0\n")
        let socket = try Socket()
        try gateway.start(sockets: [("metrics", socket.number)])
        #expect(gateway.port > 0 && gateway.port != socket.port)
        let connection = try Raw.connect(socket.port)
        try connection.writeAll("GET /health HTTP/1.0\r\n\r\n")
        try Wait.until(readable: connection.number, "an answer")
        let answer = String(decoding: try connection.readAll(limit: 4096), as: UTF8.self)
        #expect(answer.contains("\"serving\""))
        let log = try gateway.directory.read("log1")
        #expect(
            log.contains(
                "metrics = 127.0.0.1:0 is not used: "
                    + "the service manager hands over a socket at port \(socket.port)"
            )
        )
    }
}
