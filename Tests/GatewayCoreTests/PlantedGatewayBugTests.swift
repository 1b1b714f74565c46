import GatewayCore
import Testing
import Vocabulary

/// What the gateway's simulation looks for is seen once in a gateway that has a bug.
struct PlantedGatewayBugTests {
    struct Bug: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// What is said of it.
        let notices: String
        var action: (@Sendable (GatewayAction) -> [GatewayAction])?
        var limits: (@Sendable (inout GatewayLimits) -> Void)?

        init(
            _ description: String,
            notices: String,
            _ action: (@Sendable (GatewayAction) -> [GatewayAction])? = nil,
            limits: (@Sendable (inout GatewayLimits) -> Void)? = nil
        ) {
            (testDescription, self.notices) = (description, notices)
            (self.action, self.limits) = (action, limits)
        }
    }

    static let bugs: [Bug] = [
        Bug("what is answered 200 is not written", notices: "is lost") {
            guard case .write(var batch) = $0 else { return [$0] }
            batch.changes.removeAll { if case .store = $0 { true } else { false } }
            return [.write(batch)]
        },
        Bug("a refusal is told as a 200", notices: "is lost") {
            guard case .answer(let call, .refused(.serviceUnavailable, _)) = $0 else { return [$0] }
            return [.answer(call, .accepted(PushNumber(call.number)))]
        },
        Bug("answers are given twice", notices: "answered twice") {
            if case .answer = $0 { [$0, $0] } else { [$0] }
        },
        Bug("answers are not given", notices: "wait for ever") {
            if case .answer = $0 { [] } else { [$0] }
        },
        Bug("operators are not answered", notices: "an operator waits") {
            if case .done = $0 { [] } else { [$0] }
        },
        Bug("what a push took the place of stays", notices: "") {
            guard case .write(var batch) = $0 else { return [$0] }
            batch.changes.removeAll { if case .remove = $0 { true } else { false } }
            return [.write(batch)]
        },
        Bug("the log is not written", notices: "counted") {
            guard case .write(var batch) = $0 else { return [$0] }
            batch.log = LogBatch()
            return [.write(batch)]
        },
        Bug("broadcasts go out twice", notices: "broadcasts sent") {
            if case .broadcast = $0 { [$0, $0] } else { [$0] }
        },
        Bug("devices that follow get nothing", notices: "broadcasts sent") {
            if case .broadcast = $0 { [] } else { [$0] }
        },
        Bug("what is kept is sent along twice", notices: "goes out twice") {
            guard case .send(_, let sending) = $0, sending.isRider else { return [$0] }
            return [$0, $0]
        },
        Bug(
            "silent pushes are not held back",
            notices: "too many silent pushes",
            limits: {
                ($0.silentBurst, $0.silentRefill) = (100, .seconds(1))
            }
        ),
        Bug(
            "a low battery is not looked at",
            notices: "a low battery",
            limits: {
                $0.silentBattery = 0
            }
        ),
        Bug(
            "too much of Web Push is kept",
            notices: "messages of Web Push are kept",
            limits: {
                $0.webPushKept = 9
            }
        ),
    ]

    @Test(arguments: bugs)
    func `a planted bug is noticed`(bug: Bug) {
        for seed in 1...20 as ClosedRange<UInt64> {
            var world = GatewayWorld(seed: seed, devices: 3)
            (world.bug, world.wrongLimits) = (bug.action, bug.limits)
            world.run(steps: 4000)
            if world.problems.contains(where: { bug.notices.isEmpty || $0.contains(bug.notices) }) {
                return
            }
        }
        Issue.record("no seed shows it")
    }
}
