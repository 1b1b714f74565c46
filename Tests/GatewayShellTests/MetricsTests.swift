import Glibc
import GatewayShell
import Linux
import TLS
import TestKit
import Testing
import Vocabulary

/// What Prometheus is told.
struct MetricsTests {
    private static let parser = RealClientTests.python("current")
    private static let hasParser =
        (try? Command(parser, "-c", "import prometheus_client").run().succeeded) ?? false

    private struct Sample {
        var type: String
        var value: Double
    }

    /// By the name and the labels: `x_total{key=K}`.
    private typealias Samples = [String: Sample]

    private func page(_ gateway: ScratchGateway) throws -> String {
        let socket = try UnixSocket.connect(to: gateway.paths.control)
        try socket.writeAll("GET /metrics HTTP/1.0\r\n\r\n")
        let text = String(decoding: try socket.readAll(limit: 1 << 20), as: UTF8.self)
        let head = try #require(text.firstRange(of: "\r\n\r\n"))
        #expect(text.contains("Content-Type: text/plain; version=0.0.4\r\n"))
        return String(text[head.upperBound...])
    }

    /// As Prometheus' own parser reads the page.
    private func samples(_ gateway: ScratchGateway) throws -> Samples {
        gateway.directory.write(Array(try page(gateway).utf8), to: "page")
        let outcome = try Command(
            Self.parser,
            RealClientTests.scripts + "with_prometheus.py",
            gateway.directory("page")
        ).run()
        #expect(outcome.succeeded, "\(outcome.errors)")
        var samples: Samples = [:]
        for line in outcome.output.split(separator: "\n") {
            let read = try ValueJSON.parse(String(line))
            #expect(read["help"]?.stringValue?.isEmpty == false, "\(line)")
            var name = read["name"]?.stringValue ?? ""
            if case .map(let labels) = read["labels"], !labels.entries.isEmpty {
                let texts = labels.entries.map { "\($0.key)=\($0.value.stringValue ?? "?")" }
                name += "{" + texts.joined(separator: ",") + "}"
            }
            #expect(samples[name] == nil, "\(name) stands there twice")
            samples[name] = Sample(
                type: read["type"]?.stringValue ?? "",
                value: read["value"]?.doubleValue ?? .nan
            )
        }
        return samples
    }

    private func push(
        _ gateway: ScratchGateway,
        _ token: String,
        key: String = "OFFSTAGE01",
        file: String = "OFFSTAGE01",
        topic: String = ScratchGateway.topic
    ) throws -> Int {
        let signed = try ProviderClient.token(
            key: try Files.text(gateway.paths.providerKey(file)),
            id: key,
            team: "TEAM000001"
        )
        return try gateway.client.send(
            "POST",
            "/3/device/" + token,
            [("apns-topic", topic), ("authorization", "bearer " + signed)],
            body: Array("{}".utf8)
        ).status
    }

    @Test(.enabled(if: hasParser, "no prometheus_client; scripts/setup test fetches it"))
    func `Prometheus reads every figure, with its type and its unit`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let device = try ScratchDevice(gateway)
        let token = try device.token()
        for _ in 0..<3 { #expect(try push(gateway, token) == 200) }
        try device.end()
        let samples = try samples(gateway)
        func value(_ name: String) -> Double? { samples["offstage_gateway_" + name]?.value }
        for name in ["push_acceptance_seconds", "push_delivery_seconds"] {
            #expect(value(name + "_count") == 3)
            #expect(value(name + "_bucket{le=+Inf}") == 3)
            #expect((value(name + "_sum") ?? 0) > 0)
            let bounds = ["0.0005", "0.001", "0.025", "1.0", "2.5", "30.0"]
            let counts = bounds.compactMap { value(name + "_bucket{le=\($0)}") }
            #expect(counts.count == bounds.count)
            #expect(counts == counts.sorted(), "each includes those before")
            #expect(samples["offstage_gateway_\(name)_count"]?.type == "histogram")
        }
        #expect(value("pushes_delivered_total") == 3)
        #expect(samples["offstage_gateway_pushes_delivered_total"]?.type == "counter")
        let certificate = try Certificate(pem: try Files.text(gateway.paths.certificate))
        let end = try #require(certificate.validity?.upperBound)
        #expect(value("certificate_expiry_timestamp_seconds") == Double(end))
        #expect(samples["offstage_gateway_store_size_bytes"]?.type == "gauge")
    }

    @Test func `the size of the store is that of its file and its log`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        try gateway.start()
        #expect(try push(gateway, token) == 200)
        let store = gateway.paths.store
        let sizes = [store, store + "-wal"].map { Files.status($0)?.size ?? 0 }
        #expect(sizes.allSatisfy { $0 > 0 })
        #expect(try gateway.stats()["store_size_bytes"]?.integerValue == sizes[0] + sizes[1])
    }

    @Test func `pushes are counted by the key that signed, and by no other word`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        let topic = "--topics=org.example.Other"
        for (key, more) in [("SECOND0001", topic), ("IDLE000001", topic)] {
            #expect(try gateway.run("keys", "add", key, "--team=TEAM000001", more).succeeded)
        }
        try gateway.start()
        for _ in 0..<2 { #expect(try push(gateway, token) == 200) }
        #expect(try push(gateway, "00") == 400)
        // Its topic is another; nobody's key; a key that another one pretends to be.
        #expect(try push(gateway, token, key: "SECOND0001", file: "SECOND0001") == 403)
        #expect(try push(gateway, token, key: "STRANGER01") == 403)
        #expect(try push(gateway, token, key: "SECOND0001") == 403)
        let stats = try gateway.stats()
        #expect(
            stats["key_pushes_accepted_total"]
                == ["IDLE000001": 0, "OFFSTAGE01": 2, "SECOND0001": 0]
        )
        #expect(
            stats["key_pushes_refused_total"]
                == ["IDLE000001": 0, "OFFSTAGE01": 1, "SECOND0001": 1]
        )
        // A reload keeps what was counted, and drops a key that is gone.
        #expect(try gateway.run("keys", "remove", "IDLE000001").succeeded)
        try Wait.until(file: gateway.directory("log1"), "the reload") {
            $0.contains("settings and keys were reloaded")
        }
        #expect(try push(gateway, token) == 200)
        #expect(
            try gateway.stats()["key_pushes_accepted_total"]
                == ["OFFSTAGE01": 3, "SECOND0001": 0]
        )
    }

    @Test func `a refused request is not timed, and what is stored is no delivery`() throws {
        let gateway = try ScratchGateway()
        let token = try gateway.register(1)[0]
        try gateway.start()
        #expect(try push(gateway, "00") == 400)
        #expect(try gateway.stats()["push_acceptance_seconds"]?["count"] == 0)
        #expect(try push(gateway, token) == 200)
        let times = try gateway.stats()["push_acceptance_seconds"]
        #expect(times?["count"] == 1)
        #expect(times?["buckets"]?["+Inf"] == 1)
        // Stored, since nobody is there: that is no delivery.
        #expect(try gateway.stats()["push_delivery_seconds"]?["count"] == 0)
        let table = try gateway.run("stats").output
        #expect(table.contains("push_acceptance_seconds count"))
        #expect(!table.contains("+Inf"))
    }

    /// Connects with a buffer that is smaller than a page.
    private static func connectNarrowly(to port: UInt16) throws -> FileDescriptor {
        let descriptor = FileDescriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        setBuffer(SO_RCVBUF, 8192, of: descriptor.number)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor.number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw DidNotHappen(description: "connect") }
        return descriptor
    }

    private static func setBuffer(_ option: Int32, _ size: Int32, of number: Int32) {
        var size = size
        let length = socklen_t(MemoryLayout<Int32>.size)
        _ = unsafe setsockopt(number, SOL_SOCKET, option, &size, length)
    }

    @Test func `a page that is longer than buffers arrives whole`() throws {
        let gateway = try ScratchGateway()
        let keys = try Files.text(gateway.paths.keys)
        let many = (0..<200).map { keys.replacing("OFFSTAGE01", with: "\"KEY\\\($0)\"") }
        gateway.directory.write(Array((keys + many.joined()).utf8), to: "keys.conf")
        let listener = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0))
        Self.setBuffer(SO_SNDBUF, 1, of: listener.descriptor.number)
        try gateway.start(sockets: [("metrics", listener.descriptor.number)])
        let slow = try Self.connectNarrowly(to: listener.port)
        try slow.writeAll("GET /metrics HTTP/1.0\r\n\r\n")
        try Wait.until(readable: slow.number, "the beginning")
        // Meanwhile it answers others.
        _ = try gateway.stats()
        let text = String(decoding: try slow.readAll(limit: 1 << 20), as: UTF8.self)
        #expect(text.contains("key_pushes_accepted_total{key=\"\\\"KEY\\\\199\\\"\"} 0\n"))
        let body = try #require(text.firstRange(of: "\r\n\r\n")).upperBound
        let length = text[body...].utf8.count
        #expect(text.contains("Content-Length: \(length)\r\n"))
        #expect(text.hasSuffix("\n"))
    }
}
