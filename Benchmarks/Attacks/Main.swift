import Glibc
import Linux
import TLS
import TestKit

/// Many connections to a gateway's providers' port that do nothing good, until it is killed.
///
///     offstage-bench-attacks ATTACK PORT AUTHORITY COUNT BEARER
///
/// A connection that is ended comes back at once. The program runs only while nothing else wants
/// to: an attacker has a machine of its own, so its work must not take the processor of the others.
@main
enum Main {
    static func main() throws {
        try CurrentProcess.ignore(signal: Signal.pipe)
        var parameters = sched_param()
        _ = sched_setscheduler(0, Self.idle, &parameters)
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 5, let attack = Attack(rawValue: words[0]),
            let port = UInt16(words[1]), let count = Int(words[3])
        else { throw Usage() }
        let context = try TLSContext(
            clientTrusting: try Files.text(words[2]),
            protocols: attack.protocols
        )
        let address = InternetAddress(host: "127.0.0.1", port: port)
        let attackers = (0..<count).map {
            Attacker(attack, address, context, bearer: words[4], number: $0)
        }
        while true {
            for attacker in attackers where !attacker.isConnected { attacker.connect() }
            let ready = try Poll.wait(
                for: attackers.map { ($0.number, $0.wanted) },
                milliseconds: 1000
            )
            for (attacker, events) in zip(attackers, ready) where !events.isEmpty {
                attacker.goOn()
            }
        }
    }

    /// SCHED_IDLE, which the C library shows to programs with GNU extensions only.
    private static let idle: Int32 = 5

    struct Usage: Error {}
}

/// One connection after the other.
final class Attacker {
    private struct Connection: ~Copyable {
        let socket: FileDescriptor
        var tls: TLSSession
    }

    private let attack: Attack
    private let address: InternetAddress
    private let context: TLSContext
    private let bearer: String
    private let own: Int
    private var times: UInt64 = 0
    private var connection: Connection?
    private var isSecure = false
    private var bytes: AttackBytes
    private var piece: [UInt8] = []
    private var sent = 0
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    private(set) var number: Int32 = -1
    private(set) var wanted: Poll.Events = []

    init(
        _ attack: Attack,
        _ address: InternetAddress,
        _ context: TLSContext,
        bearer: String,
        number: Int
    ) {
        (self.attack, self.address, self.context) = (attack, address, context)
        (self.bearer, own) = (bearer, number)
        bytes = AttackBytes(attack, bearer: bearer, seed: 0)
    }

    var isConnected: Bool { connection != nil }

    func connect() {
        times += 1
        do {
            let socket = try InternetSocket.start(connectingTo: address)
            number = socket.number
            let tls = try TLSSession(context, connecting: number, to: "localhost")
            connection = Connection(socket: socket, tls: tls)
        } catch {
            return leave()
        }
        isSecure = false
        bytes = AttackBytes(attack, bearer: bearer, seed: UInt64(own) << 20 | times)
        (piece, sent) = ([], 0)
        wanted = attack.depth == .connected ? .readable : .writable
    }

    private func leave() {
        connection = nil
        number = -1
        wanted = []
    }

    /// As far as the socket lets it, within a piece or two: others attack as well.
    func goOn() {
        do {
            guard attack.depth != .connected else { return leave() }
            if !isSecure {
                switch try connection?.tls.handshake() {
                case .wantsRead:
                    if attack.depth == .greeted { return leave() }
                    wanted = .readable
                    return
                case .wantsWrite:
                    wanted = .writable
                    return
                case .done: isSecure = true
                case nil: return
                }
                if attack.depth == .secure { return leave() }
            }
            if attack.reads, try !read() { return leave() }
            try write()
        } catch {
            leave()
        }
    }

    /// False: the other side has closed.
    private func read() throws -> Bool {
        for _ in 0..<4 {
            switch try connection?.tls.read(into: &buffer) {
            case .bytes: continue
            case .closed: return false
            case .wantsRead, .wantsWrite, nil: return true
            }
        }
        return true
    }

    private func write() throws {
        wanted = attack.reads ? [.readable, .writable] : .writable
        for _ in 0..<2 {
            if sent == piece.count { (piece, sent) = (bytes.next(), 0) }
            switch try connection?.tls.write(piece.span.extracting(sent..<piece.count)) {
            case .bytes(let count): sent += count
            case .closed: return leave()
            case .wantsRead, .wantsWrite, nil: return
            }
        }
    }
}
