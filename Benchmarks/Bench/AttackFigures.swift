import GatewayShell
import Linux
import TestKit

/// What an honest sender notices of many connections that do nothing good: how long its pushes wait
/// for their answers, beside how long they wait in the same run while nobody attacks.
struct AttackFigures {
    static let attackers = 100
    static let devices = 100
    /// In each of the rounds, whose medians count; 500 a second over one connection.
    static let pushes = 1000
    static let rounds = 3

    func run() throws -> [Figure] {
        let gateway = try BenchGateway()
        let fleet = try Fleet(gateway, Self.devices)
        let tokens = try fleet.tokens()
        func latency() throws -> Double {
            try gateway.latencies(tokens, Self.pushes, clients: 1, beside: fleet)
        }
        _ = try latency()
        return try Attack.allCases.map { attack in
            var quiet: [Double] = []
            var attacked: [Double] = []
            for _ in 0..<Self.rounds {
                quiet.append(try latency())
                let attackers = try Attackers(attack, gateway)
                do {
                    attacked.append(try latency())
                } catch {
                    throw DidNotHappen(description: "\(attack.rawValue): \(error)")
                }
                try attackers.end()
            }
            return Figure(
                name: "p99 of honest pushes beside \(Self.attackers) of \(attack.rawValue)",
                unit: "ms",
                ours: attacked.median,
                peer: quiet.median,
                peerName: "beside nobody",
                limit: .ratio(3)
            )
        }
    }

    /// They run from here to `end`.
    private struct Attackers: ~Copyable {
        let process: PidFD

        init(_ attack: Attack, _ gateway: BenchGateway) throws {
            process = try Command(
                Products.path(of: "offstage-bench-attacks"),
                attack.rawValue,
                "\(gateway.port)",
                gateway.places.authority,
                "\(AttackFigures.attackers)",
                gateway.token
            ).start()
            // All have connected once.
            pause(milliseconds: 500)
        }

        func end() throws {
            try process.send(Signal.kill)
            let exit = try process.wait(block: true)
            guard exit == .signalled(Signal.kill) else {
                throw DidNotHappen(description: "an attack to the end: \(exit ?? .unknown)")
            }
            // What they sent is done with.
            pause(milliseconds: 300)
        }
    }
}
