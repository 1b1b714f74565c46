@testable import DeviceCore
import TestKit
import Testing
import Vocabulary

/// A network or a plug that comes and goes.
struct SettlingTests {
    private static func bench() -> Bench {
        var bench = Bench()
        bench.configure { $0.settleTime = .seconds(5) }
        bench.set(.idle, 1)
        return bench
    }

    private func charge(_ bench: inout Bench) {
        var needs = Needs()
        needs.power = true
        bench.ask(
            .submit(
                Submission(identifier: "job", kind: .processing, needs: needs, command: ["job"])
            )
        )
    }

    @Test func `a plug that flaps ends work at once and starts it again only once`() throws {
        var bench = Self.bench()
        charge(&bench)
        var seen: Set<LaunchID> = []
        for _ in 0..<20 {
            if let launch = bench.app("command.job")?.launches.first?.id {
                seen.insert(launch)
                bench.started(launch)
            }
            bench.set(.power, 0)
            if let launch = bench.app("command.job")?.launches.first {
                #expect(launch.ending?.reason == .powerLost)
                bench.killed(launch.id, signal: 15)
            }
            bench.set(.power, 1)
            bench.advance(.seconds(2))
        }
        // The plug was in from the start; after that it never held for long enough.
        #expect(seen.count == 1)
        #expect(bench.gates("command.job") == ["settling"])
        bench.advance(.seconds(3))
        #expect(bench.app("command.job")?.launches.count == 1)
    }

    @Test func `what does not need the one that flaps is not held`() {
        var bench = Self.bench()
        bench.set(.power, 0)
        bench.set(.network, 0)
        bench.set(.power, 1)
        bench.set(.network, 2)
        bench.ask(
            .submit(Submission(identifier: "job", kind: .processing, command: ["job"]))
        )
        #expect(bench.spawn(of: "command.job") != nil)
    }

    @Test func `what was never away, and what the user says, needs no settling`() {
        var bench = Self.bench()
        bench.set(.power, 0, by: .hand)
        bench.set(.power, 1, by: .hand)
        charge(&bench)
        #expect(bench.spawn(of: "command.job") != nil)
        #expect(bench.device.conditions.cameBack(.network) == nil)
    }
}
