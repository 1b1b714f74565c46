@testable import DeviceCore
import Testing
import Vocabulary

/// The four states of a condition: what holds work back when nothing tells.
struct SensingTests {
    /// Each condition that can be asked for, what asks for it, and the gate.
    struct Asked: Sendable, CustomTestStringConvertible {
        var condition: Condition
        var needs: Needs
        var gate: String
        var testDescription: String { condition.rawValue }
    }

    static let asked = [
        Asked(condition: .power, needs: Needs(power: true), gate: "external-power"),
        Asked(condition: .network, needs: Needs(network: true), gate: "network"),
        Asked(condition: .metered, needs: Needs(unmetered: true), gate: "metered"),
        Asked(condition: .locked, needs: Needs(unlocked: true), gate: "data-protection"),
    ]

    /// Nobody senses anything, but that nobody uses the device.
    private func bench() -> Bench {
        var bench = Bench(isSensed: false)
        bench.set(.idle, 1)
        return bench
    }

    private func submit(_ asked: Asked, to bench: inout Bench) {
        bench.ask(.submit(Submission(kind: .processing, needs: asked.needs, command: ["app"])))
    }

    private func start(_ bench: inout Bench) {
        if let launch = bench.spawn(of: "command.app") { bench.started(launch) }
    }

    private func explanation(_ bench: Bench) -> Explanation? {
        bench.device.explain(AppID("command.app"), at: bench.now).first
    }

    private func answer(_ bench: Bench) -> RequestedTask? {
        if case .requested(let task) = bench.reply { task } else { nil }
    }

    @Test(arguments: asked)
    func `what asks for a condition that nothing tells waits, and is told so`(
        asked: Asked
    ) throws {
        var bench = bench()
        submit(asked, to: &bench)
        #expect(bench.gates("command.app") == [asked.gate])
        let hold = try #require(explanation(bench)?.holds.first)
        #expect(hold.sentence.hasPrefix("no source reports "))
        #expect(hold.value == "unknown")
        #expect(hold.fix.hasPrefix("set it by hand: offstage set \(asked.condition.row.name) "))
        #expect(answer(bench)?.unsensed == [asked.condition.row.name])
        // As it says.
        bench.set(asked.condition, asked.condition.row.harmless, by: .hand)
        #expect(bench.spawned.count == 1)
    }

    @Test(arguments: asked)
    func `what asks for nothing is held by nothing that nobody tells`(asked: Asked) throws {
        var bench = bench()
        bench.install(.refreshing("news"))
        bench.ask(.submit(Submission(kind: .processing, command: ["app"])))
        #expect(bench.gates("news").isEmpty && bench.gates("command.app").isEmpty)
        #expect(try #require(answer(bench)).unsensed == nil)
    }

    @Test(arguments: asked)
    func `what the device has nothing of holds nothing back`(asked: Asked) throws {
        var bench = bench()
        bench.send(.condition(asked.condition, .kernel, .noDevice))
        #expect(bench.device.conditions[asked.condition].sensing == .noDevice)
        submit(asked, to: &bench)
        #expect(bench.spawned.count == 1)
        #expect(try #require(answer(bench)).unsensed == nil)
    }

    @Test(arguments: asked)
    func `what told it and is gone holds back until one tells again`(asked: Asked) throws {
        var bench = bench()
        bench.set(asked.condition, asked.condition.row.harmless)
        bench.send(.condition(asked.condition, .kernel, .lost))
        submit(asked, to: &bench)
        #expect(bench.gates("command.app") == [asked.gate])
        let hold = try #require(explanation(bench)?.holds.first)
        #expect(hold.sentence.hasPrefix("the source that reported "))
        #expect(hold.fix.hasPrefix("set it by hand: offstage set \(asked.condition.row.name) "))
        #expect(try #require(answer(bench)).unsensed == nil)
        bench.set(asked.condition, asked.condition.row.harmless)
        #expect(bench.spawned.count == 1)
    }

    @Test(arguments: asked)
    func `a run that asked for it is stopped when nothing tells any more`(asked: Asked) {
        var bench = bench()
        bench.set(asked.condition, asked.condition.row.harmless, by: .hand)
        submit(asked, to: &bench)
        start(&bench)
        bench.send(.condition(asked.condition, .hand, .silent))
        #expect(bench.effects.contains { if case .terminate = $0 { true } else { false } })
    }

    @Test func `what sources say at the start holds before anything is begun`() {
        var device = Device()
        var manifest = AppManifest.refreshing("news")
        manifest.refreshInterval = nil
        let start = Start(
            bootID: "boot",
            seed: 1,
            settings: .calm,
            manifests: [.present(manifest)],
            conditions: [
                ConditionReport(.battery, .kernel, .value(10)),
                ConditionReport(.power, .kernel, .value(0)),
            ]
        )
        var effects: [Effect] = []
        device.handle(.started(start), at: Bench().now, into: &effects)
        #expect(!effects.contains { if case .spawn = $0 { true } else { false } })
        let held = device.explain(AppID("news"), at: Bench().now).first?.holds.map(\.gate)
        #expect(held == ["battery"])
    }

    @Test func `a battery is low though nothing tells of external power`() {
        var bench = Bench(isSensed: false)
        bench.set(.battery, 10)
        #expect(bench.device.conditions.batteryIsLow)
        bench.set(.power, 1)
        #expect(!bench.device.conditions.batteryIsLow)
    }

    @Test func `what is said to be typed can be typed`() throws {
        var bench = Bench(isSensed: false)
        bench.set(.power, 0)
        bench.set(.battery, 80)
        bench.send(.condition(.battery, .kernel, .lost))
        bench.install(.refreshing("news"))
        let hold = bench.device.explain(AppID("news"), at: bench.now).first?.holds.first
        #expect(hold?.fix == "set it by hand: offstage set battery 100")
        for condition in Condition.allCases {
            let row = condition.row
            for value in [row.harmless, row.cautious] {
                let typed = row.typed(value)
                #expect(!typed.contains(" "))
                #expect(row.byHand(typed) == .value(value))
            }
        }
    }

    @Test func `a lower source that looked has the word over a higher one that is lost`() {
        var bench = Bench(isSensed: false)
        bench.send(.condition(.battery, .upower, .lost))
        #expect(bench.device.conditions[.battery].sensing == .lost)
        bench.send(.condition(.battery, .kernel, .noDevice))
        #expect(bench.device.conditions[.battery].sensing == .noDevice)
        bench.set(.battery, 40, by: .estimate)
        #expect(bench.device.conditions.battery == 40)
    }

    // MARK: Idle, by load

    private func watches(_ bench: Bench) -> [Bool] {
        bench.effects.compactMap { if case .watchIdle(let on) = $0 { on } else { nil } }
    }

    private func load(_ idle: Int?, _ bench: inout Bench) {
        let reading = idle.map { Reading.value($0) } ?? .silent
        bench.send(.condition(.idle, .estimate, reading))
    }

    @Test func `the load is read once nothing else holds processing, and then it decides`() throws {
        var bench = Bench(isSensed: false)
        bench.ask(
            .submit(Submission(kind: .processing, needs: Needs(power: true), command: ["app"]))
        )
        #expect(watches(bench) == [])
        #expect(answer(bench)?.unsensed == ["power", "idle"])
        bench.set(.power, 1)
        #expect(watches(bench) == [true])
        #expect(bench.spawned.isEmpty)
        load(0, &bench)
        #expect(bench.gates("command.app") == ["device-in-use"])
        let hold = try #require(explanation(bench)?.holds.first)
        #expect(hold.sentence.contains("busy"))
        load(1, &bench)
        #expect(bench.spawned.count == 1)
        #expect(watches(bench) == [false])
    }

    @Test func `use that nobody tells of has held nothing that something else held`() throws {
        var bench = Bench(isSensed: false)
        bench.ask(
            .submit(Submission(kind: .processing, needs: Needs(power: true), command: ["app"]))
        )
        bench.advance(.hours(1))
        bench.set(.idle, 0)
        #expect(bench.gates("command.app") == ["external-power", "device-in-use"])
        bench.set(.idle, 1)
        #expect(explanation(bench)?.held.map(\.gate) == [.deviceInUse])
        #expect(explanation(bench)?.held.first?.since == bench.now.wall)
    }

    @Test func `work that waits for its date and for the load is looked at on its date`() {
        var bench = Bench(isSensed: false)
        bench.ask(.submit(Submission(kind: .processing, after: .hours(2), command: ["app"])))
        #expect(bench.gates("command.app") == ["earliest"])
        #expect(bench.armed == bench.now.boot + .hours(2))
        bench.advance(.hours(2))
        #expect(watches(bench) == [true])
        #expect(bench.armed.map { $0 > bench.now.boot + .hours(1) } ?? true, "no timer spins")
        #expect(bench.gates("command.app") == ["device-in-use"])
        load(1, &bench)
        #expect(bench.spawned.count == 1)
    }

    @Test func `no load is read where a source tells, or nothing waits for it`() {
        var bench = Bench(isSensed: false)
        bench.install(.refreshing("news"))
        #expect(watches(bench) == [])
        bench.set(.idle, 0)
        bench.ask(.submit(Submission(kind: .processing, command: ["app"])))
        #expect(watches(bench) == [])
        bench.send(.condition(.idle, .kernel, .silent))
        #expect(watches(bench) == [true])
        bench.set(.idle, 0, by: .hand)
        #expect(watches(bench) == [false])
    }

    @Test func `behind another run it waits for that, and not for the load`() {
        var bench = Bench(isSensed: false)
        bench.configure { $0.runSlots = 1 }
        for name in ["first", "second"] {
            bench.ask(.submit(Submission(identifier: name, kind: .processing, command: ["app"])))
            load(1, &bench)
        }
        #expect(bench.gates("command.second") == ["run-slots"])
        #expect(watches(bench) == [])
    }

    @Test func `an estimate neither ends a run nor counts as use`() {
        var bench = Bench(isSensed: false)
        bench.ask(.submit(Submission(kind: .processing, command: ["app"])))
        load(1, &bench)
        start(&bench)
        load(nil, &bench)
        load(0, &bench)
        #expect(bench.effects.allSatisfy { if case .terminate = $0 { false } else { true } })
        #expect(!bench.device.refreshPolicy.use.isInUse)
    }
}
