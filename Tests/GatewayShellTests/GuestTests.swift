import EventLoop
import GatewayCore
import GatewayShell
import Linux
import Synchronization
import TLS
import TestKit
import Testing
import Vocabulary

/// Connections that have not shown who sends: all of them together have a share of each turn.
struct GuestTests {
    /// The providers' side in this process, driven turn by turn.
    private final class Bench {
        let gateway: ScratchGateway
        let scratch: ScratchNode
        let server: ProviderServer
        var loop: EventLoop { scratch.node.loop }

        init(ports: Int = 1) throws {
            gateway = try ScratchGateway()
            scratch = try ScratchNode()
            let paths = gateway.paths
            server = try ProviderServer(
                scratch.node,
                Authority([]),
                try (0..<ports).map { _ in
                    ProviderListener(
                        try InternetListener(InternetAddress(host: "127.0.0.1", port: 0))
                    )
                },
                try TLSContext(
                    server: try Files.text(paths.certificate),
                    key: try Files.text(paths.certificateKey),
                    protocols: ["h2"],
                    clients: .optional(anchors: try Files.text(paths.authority))
                )
            )
            // Then one of them has its turn.
            server.guests.lines.longestShare = .zero
        }

        func turn() throws {
            _ = try loop.runTurn(limit: 256, once: true)
            scratch.node.endTurn()
            server.endTurn()
        }

        /// Until what so many guests have said is here, and has not been read.
        func waitForWords(of count: Int) throws {
            // As the kernel lists its connections: port, state, bytes to be read.
            let port = ":" + String(server.ports[0], radix: 16, uppercase: true)
            try Wait.until("the words of \(count) guests") {
                let list = try Files.text("/proc/self/net/tcp", limit: 1 << 22)
                let waiting = list.split(separator: "\n").count { line in
                    let fields = line.split(separator: " ")
                    return fields.count > 4 && fields[1].hasSuffix(port) && fields[3] == "01"
                        && !fields[4].hasSuffix(":00000000")
                }
                return waiting >= count
            }
        }

        /// Turns until nobody waits for one.
        func serveAll() throws {
            repeat { try turn() } while server.guests.count > 0
        }

        func guests(_ count: Int, at port: Int = 0) throws -> [SharedDescriptor] {
            try (0..<count).map { _ in
                SharedDescriptor(try RawConnection.connect(server.ports[port]))
            }
        }
    }

    /// What they say nobody understands.
    private static func speak(_ guests: [SharedDescriptor]) throws {
        for guest in guests { try guest.descriptor.writeAll("this is not TLS at all") }
    }

    /// Those whose connections the server has ended.
    private static func gone(of guests: [SharedDescriptor]) -> [Int] {
        guests.indices.filter {
            Poll.ready(guests[$0].descriptor.number, for: .readable, milliseconds: 0)
        }
    }

    @Test func `guests have their turns one after the other, as they came`() throws {
        let bench = try Bench()
        let guests = try bench.guests(6)
        while bench.server.door.counters.connections < guests.count { try bench.turn() }
        for (index, guest) in guests.enumerated() {
            try Self.speak([guest])
            // Side by side their words might arrive in another order.
            try bench.waitForWords(of: index + 1)
        }
        var gone: [Int] = []
        while gone.count < guests.count {
            let before = bench.server.door.counters.failedHandshakes
            try bench.turn()
            #expect(bench.server.door.counters.failedHandshakes <= before + 1)
            gone += Self.gone(of: guests).filter { !gone.contains($0) }
        }
        #expect(gone == Array(0..<guests.count))
    }

    @Test func `many who come to one port keep nobody waiting at another`() throws {
        let bench = try Bench(ports: 2)
        let many = try bench.guests(20)
        let own = try bench.guests(1, at: 1)
        try Self.speak(own)
        while Self.gone(of: own).isEmpty { try bench.turn() }
        #expect(bench.server.door.counters.connections < many.count / 2)
        while bench.server.door.counters.connections < many.count + own.count { try bench.turn() }
    }

    @Test func `a newcomer passes those that go on and on`() throws {
        let bench = try Bench()
        let guests = try bench.guests(20)
        while bench.server.door.counters.connections < guests.count { try bench.turn() }
        // Each byte of an unfinished first message is a turn.
        for byte: UInt8 in [22, 3, 1, 0, 64, 1, 0, 0, 60] {
            for guest in guests { try guest.descriptor.writeAll([byte].span) }
            try bench.serveAll()
        }
        #expect(bench.server.door.counters.failedHandshakes == 0)
        try Self.speak(guests)
        for guest in guests { try guest.descriptor.writeAll([UInt8](repeating: 0, count: 64).span) }
        let newcomer = try bench.guests(1)
        try Self.speak(newcomer)
        while Self.gone(of: newcomer).isEmpty { try bench.turn() }
        #expect(Self.gone(of: guests).count < 5)
    }

    @Test func `who is known waits for no guest`() async throws {
        try await ServingThread.value {
            let bench = try Bench()
            let made = try bench.gateway.run("keys", "certificate", ScratchGateway.topic).output
            let (port, authority) = (bench.server.port, bench.gateway.paths.authority)
            // The client waits for the server at first, and so has a thread of its own.
            let (ready, go) = (try SharedPipe(), try SharedPipe())
            let client = try ServingThread { _ in
                let raw = try RawConnection(
                    try RawConnection.connect(port),
                    trusting: authority,
                    ["h2"],
                    made
                )
                raw.send(RawConnection.preface + RawConnection.settings)
                _ = raw.frames { $0.type == 4 && $0.flags == 1 }
                try ready.writing.writeAll("x")
                try Wait.until(readable: go.reading.number)
                raw.send(RawConnection.frame(1, 5, 1, RawConnection.request("/2/x")))
                try ready.writing.writeAll("x")
                try Wait.until(readable: go.reading.number)
            }
            var told = 0
            let source = try DescriptorSource(bench.loop, ready.reading.number, .readable) { _ in
                told += (try? ready.reading.read(upTo: 1).count) ?? 0
            }
            while told == 0 { try bench.turn() }
            let guests = try bench.guests(40)
            while bench.server.door.counters.connections <= guests.count { try bench.turn() }
            try Self.speak(guests)
            let before = bench.server.door.counters.failedHandshakes
            try go.writing.writeAll("x")
            try Wait.until(readable: ready.reading.number)
            try bench.turn()
            #expect(bench.scratch.node.driver.senders.refusals.reduce(0) { $0 + $1.count } == 1)
            #expect(bench.server.door.counters.failedHandshakes <= before + 1)
            #expect(bench.server.door.counters.failedHandshakes < guests.count)
            try go.writing.writeAll("x")
            withExtendedLifetime((client, source)) {}
        }
    }
}
