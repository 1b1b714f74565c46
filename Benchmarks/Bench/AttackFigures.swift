import GatewayShell
import Linux
import TestKit

/// What an honest sender notices of many connections that do nothing good: how long its pushes wait
/// for their answers, and how long it takes to get in, beside both in the same run while nobody
/// attacks.
struct AttackFigures {
    static let attackers = 100
    static let devices = 100
    /// In each of the rounds, whose medians count; 500 a second over one connection.
    static let pushes = 1000
    static let rounds = 5

    func run() throws -> [Figure] {
        let gateway = try BenchGateway()
        let fleet = try Fleet(gateway, Self.devices)
        let tokens = try fleet.tokens()
        return try Scheduling.goFirst {
            try Scheduling.adopt(gateway.pid)
            _ = try latencies(gateway, tokens, fleet)
            return try Attack.allCases.flatMap {
                attack in
                try figures(beside: attack, gateway) { try latencies(gateway, tokens, fleet) }
            }
        }
    }

    private func latencies(
        _ gateway: BenchGateway,
        _ tokens: [String],
        _ fleet: Fleet
    ) throws -> BenchGateway.Latencies {
        try gateway.latencies(tokens, Self.pushes, clients: 1, beside: fleet)
    }

    private func figures(
        beside attack: Attack,
        _ gateway: BenchGateway,
        _ latencies: () throws -> BenchGateway.Latencies
    ) throws -> [Figure] {
        var quiet: [BenchGateway.Latencies] = []
        var attacked: [BenchGateway.Latencies] = []
        for _ in 0..<Self.rounds {
            quiet.append(try latencies())
            let attackers = try Attackers(attack, gateway)
            do {
                attacked.append(try latencies())
            } catch {
                throw DidNotHappen(description: "\(attack.rawValue): \(error)")
            }
            try attackers.end()
        }
        let beside = "beside \(Self.attackers) of \(attack.rawValue)"
        return [
            Figure(
                name: "p99 of honest pushes \(beside)",
                unit: "ms",
                ours: attacked.map(\.p99).median,
                peer: quiet.map(\.p99).median,
                peerName: "beside nobody",
                limit: .ratio(3)
            ),
            Figure(
                name: "first answer to a new sender \(beside)",
                unit: "ms",
                ours: attacked.map(\.first).median,
                peer: quiet.map(\.first).median,
                peerName: "beside nobody"
            ),
        ]
    }

    /// They run from here to `end`.
    private struct Attackers: ~Copyable {
        let process: PidFD

        init(_ attack: Attack, _ gateway: BenchGateway) throws {
            var command = Command(
                Scheduling.attackerWords([
                    Products.path(of: "offstage-bench-attacks"),
                    attack.rawValue,
                    "\(gateway.port)",
                    gateway.paths.authority,
                    "\(AttackFigures.attackers)",
                    gateway.token,
                ])
            )
            command.newSession = false
            process = try command.start()
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
