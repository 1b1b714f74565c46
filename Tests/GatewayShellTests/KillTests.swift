import GatewayCore
import GatewayShell
import HTTP2
import Linux
import SQLite
import TLS
import TestKit
import Testing
import Vocabulary

/// What a 200 promised is kept, whatever happens to the program.
struct KillTests {
    @Test func `kill -9 under load loses no push that was answered 200`() throws {
        let gateway = try ScratchGateway()
        let tokens = try gateway.register(600)
        for round in 0..<3 {
            let own = Array(tokens[(round * 200)..<(round * 200 + 200)])
            try gateway.start()
            let sender = try LoadSender(gateway, own)
            // In the middle of it, at another place each time.
            let answered = try sender.run(until: 40 + 50 * round) { gateway.kill() }
            #expect(answered.count >= 40 + 50 * round)
            let reader = try StoreReader(gateway.paths.store)
            let seal = try gateway.sealing()
            for token in answered {
                let known = try #require(seal.token(Array(token.utf8)[...]))
                let push = try reader.push(in: SlotKey(known.device, known.app))
                #expect(push != nil, "\(token) was answered 200 and is not stored")
                if let push { #expect(try reader.log(of: push.number) != nil) }
            }
        }
    }

    @Test func `power lost in the middle leaves every batch that was reported, whole`() throws {
        var all = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            let directory = ScratchDirectory()
            let disk = FaultyDisk()
            let path = directory("gateway.db")
            var kept: [PushNumber] = []
            func write() throws {
                let writer = try StoreWriter(path, fileSystem: disk.name)
                disk.fail(nth: seed * 7, with: .ioWrite, forever: true)
                for number in 1...100 as ClosedRange<UInt64> {
                    try writer.write(Self.batch(number))
                    kept.append(PushNumber(number))
                }
            }
            #expect(throws: SQLiteError.self) { try write() }
            disk.losePower(seed: seed)
            disk.heal()
            _ = try StoreWriter(path, fileSystem: nil)
            let reader = try StoreReader(path)
            for number in kept {
                let key = SlotKey(DeviceID(number.number), AppNumber(1))
                #expect(try reader.push(in: key)?.number == number)
                #expect(try reader.log(of: number)?.events.count == 2)
            }
            all += kept.count
        }
        #expect(all > 0, "none was written before the power went")
    }

    private static func batch(_ number: UInt64) -> StoreBatch {
        let wall = WallTime(nanoseconds: 1_700_000_000_000_000_000)
        let push = Push(
            number: PushNumber(number),
            device: DeviceID(number),
            app: AppNumber(1),
            type: .alert,
            priority: .immediate,
            expiration: .until(wall + .days(1)),
            isSilent: false,
            payload: [UInt8](repeating: 0x20, count: 300)
        )
        var batch = StoreBatch()
        let slot = SlotKey(push.device, push.app)
        batch.changes.append(.store(push, in: slot, expiration: wall + .days(1)))
        batch.log.accepted(
            push,
            Acceptance(apnsID: PushUUID(high: 1, low: number), provider: "KEY")
        )
        batch.log.add(push.number, .accepted, at: wall)
        batch.log.add(push.number, .stored(.away), at: wall)
        return batch
    }
}

/// Sends one push to each of many tokens over one connection, as fast as it goes.
final class LoadSender: HTTP2Handler {
    private let gateway: ScratchGateway
    private var waiting: [String]
    private var tokens: [Int32: String] = [:]
    private var answered: [String] = []

    init(_ gateway: ScratchGateway, _ tokens: [String]) throws {
        (self.gateway, waiting) = (gateway, tokens)
    }

    /// The tokens whose push was answered 200, until the connection broke. `event` happens once
    /// `target` were.
    func run(until target: Int, _ event: () -> Void) throws -> [String] {
        let socket = try InternetSocket.connect(
            to: InternetAddress(host: "127.0.0.1", port: gateway.port)
        )
        let context = try TLSContext(
            clientTrusting: try Files.text(gateway.paths.authority),
            protocols: ["h2"]
        )
        var tls = try TLSSession(context, connecting: socket.number, to: "localhost")
        guard try tls.handshake() == .done else {
            throw DidNotHappen(description: "handshake over a blocking socket")
        }
        let session = try HTTP2Session(.client, handler: self)
        let bearer = try gateway.bearer()
        var input = [UInt8](repeating: 0, count: 16_384)
        var hasHappened = false
        do {
            while !waiting.isEmpty || !tokens.isEmpty {
                while tokens.count < 20, let token = waiting.popLast() {
                    let headers = HeaderBlock([
                        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
                        (":path", "/3/device/" + token), ("apns-topic", ScratchGateway.topic),
                        ("authorization", bearer),
                    ])
                    tokens[try session.request(headers, body: Array("{}".utf8))] = token
                }
                var output: [UInt8] = []
                _ = try session.send(into: &output, upTo: 1 << 20)
                var sent = 0
                while sent < output.count {
                    let rest = output.span.extracting(sent..<output.count)
                    guard case .bytes(let count) = try tls.write(rest) else { break }
                    sent += count
                }
                guard case .bytes(let count) = try tls.read(into: &input) else { break }
                let bytes = input.span.extracting(0..<count)
                try session.receive(bytes)
                if !hasHappened, answered.count >= target {
                    hasHappened = true
                    event()
                }
            }
        } catch is TLSError {
            // The other side is gone.
        }
        return answered
    }

    func received(_ message: HTTP2Message) {
        guard let token = tokens.removeValue(forKey: message.stream) else { return }
        if message.headers.text(":status") == "200" { answered.append(token) }
    }

    func turnedAway(_ stream: Int32) {}
    func broken(_ stream: Int32, _ code: HTTP2Code) { tokens[stream] = nil }
    func saidGoodbye(lastStream: Int32, _ code: HTTP2Code, _ reason: [UInt8]) {}
}
