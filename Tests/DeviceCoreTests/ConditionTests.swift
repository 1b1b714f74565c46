import DeviceCore
import Testing
import Vocabulary

/// Sensors: sources, absence and loss.
struct ConditionTests {
    @Test func `what no source has takes the harmless value and holds no refresh back`() {
        var bench = Bench(isSensed: false)
        // The daemon sees its own commits.
        #expect(bench.device.conditions[.storage].source == .daemon)
        for condition in Condition.allCases where condition != .storage {
            let state = bench.device.conditions[condition]
            #expect(state.value == condition.row.harmless)
            #expect(state.source == nil)
            #expect(state.sensing == .unknown)
        }
        bench.install(.refreshing("app"))
        #expect(bench.spawned.count == 1)
    }

    @Test func `what was there and vanished takes the cautious value`() {
        for condition in Condition.allCases where condition != .storage {
            var bench = Bench(isSensed: false)
            bench.set(condition, condition.row.harmless)
            bench.send(.condition(condition, .kernel, .lost))
            let state = bench.device.conditions[condition]
            #expect(state.value == condition.row.cautious)
            #expect(state.sensing == .lost)
            bench.send(.condition(condition, .kernel, .silent))
            #expect(bench.device.conditions[condition].value == condition.row.harmless)
        }
    }

    @Test func `a sensor that is lost is told with what waits for it`() {
        for condition in Condition.allCases where condition != .storage {
            var bench = Bench(isSensed: false)
            bench.set(condition, condition.row.harmless)
            bench.send(.condition(condition, .kernel, .lost))
            let check = Check.sensor(condition, bench.device.conditions[condition], problem: "")
            #expect(!check.isGood && check.lost != nil && check.fix != nil, "\(condition)")
        }
    }

    @Test func `the highest source that sees has the word`() {
        var bench = Bench()
        bench.set(.battery, 10, by: .estimate)
        bench.set(.battery, 20, by: .kernel)
        bench.set(.battery, 30, by: .upower)
        #expect(bench.device.conditions.battery == 30)
        #expect(bench.device.conditions[.battery].source == .upower)
        bench.set(.battery, 40, by: .hand)
        bench.set(.battery, 35, by: .upower)
        #expect(bench.device.conditions.battery == 40)
        // `auto` gives the word back.
        bench.send(.condition(.battery, .hand, .silent))
        #expect(bench.device.conditions.battery == 35)
        // A source that is lost yields to one that still sees.
        bench.send(.condition(.battery, .upower, .lost))
        #expect(bench.device.conditions.battery == 20)
        #expect(bench.device.conditions[.battery].sensing == .known)
        bench.send(.condition(.battery, .kernel, .lost))
        bench.send(.condition(.battery, .estimate, .lost))
        #expect(bench.device.conditions.battery == 0)
        #expect(bench.device.conditions[.battery].sensing == .lost)
    }

    @Test func `since tells when the value last changed`() {
        var bench = Bench()
        bench.set(.thermal, 1)
        let changed = bench.now.wall
        bench.advance(.minutes(1))
        bench.set(.thermal, 1, by: .hand)
        #expect(bench.device.conditions[.thermal].since == changed)
        bench.set(.thermal, 2, by: .hand)
        #expect(bench.device.conditions[.thermal].since == bench.now.wall)
    }

    @Test func `a battery around the limit does not flap`() {
        var bench = Bench()
        bench.set(.power, 0)
        for (level, isLow) in [
            (25, false), (20, false), (19, true), (20, true), (22, true), (23, false), (20, false),
            (19, true),
        ] {
            bench.set(.battery, level)
            #expect(bench.device.conditions.batteryIsLow == isLow, "\(level)")
        }
        bench.set(.power, 1)
        #expect(!bench.device.conditions.batteryIsLow)
    }

    @Test func `a full battery is never low, whatever the limit`() {
        var bench = Bench()
        bench.configure { $0.batteryLimit = 100 }
        bench.set(.power, 0)
        bench.set(.battery, 99)
        #expect(bench.device.conditions.batteryIsLow)
        bench.set(.battery, 100)
        #expect(!bench.device.conditions.batteryIsLow)
    }

    @Test func `the limit of the battery may be set at any time`() {
        var bench = Bench()
        bench.set(.power, 0)
        bench.set(.battery, 30)
        #expect(!bench.device.conditions.batteryIsLow)
        bench.configure { $0.batteryLimit = 40 }
        #expect(bench.device.conditions.batteryIsLow)
    }

    @Test func `before the first unlock does not come back until the next boot, but by hand`()
        throws
    {
        var bench = Bench()
        bench.set(.locked, 2)
        #expect(bench.device.conditions.beforeFirstUnlock)
        bench.set(.locked, 0)
        bench.set(.locked, 2)
        #expect(!bench.device.conditions.beforeFirstUnlock)
        #expect(bench.device.conditions.locked)
        bench.set(.locked, 2, by: .hand)
        #expect(bench.device.conditions.beforeFirstUnlock)
        try bench.restart(bootID: "boot-2")
        bench.set(.locked, 2)
        #expect(bench.device.conditions.beforeFirstUnlock)
    }

    @Test func `that it was unlocked outlives the daemon, and not the boot`() throws {
        var bench = Bench()
        bench.set(.locked, 0)
        try bench.restart()
        // The user has logged out meanwhile, and lingers.
        bench.set(.locked, 2)
        #expect(!bench.device.conditions.beforeFirstUnlock)
        #expect(bench.device.conditions.locked)
        try bench.restart(bootID: "boot-2")
        bench.set(.locked, 2)
        #expect(bench.device.conditions.beforeFirstUnlock)
        try bench.restart(bootID: "boot-2")
        bench.set(.locked, 2)
        #expect(bench.device.conditions.beforeFirstUnlock)
    }

    @Test(arguments: Condition.allCases)
    func `what a hand has said holds after a restart, until auto`(_ condition: Condition) throws {
        var bench = Bench(isSensed: false)
        let value = condition.row.harmless == 0 ? 1 : 0
        bench.set(condition, value, by: .hand)
        try bench.restart()
        #expect(bench.device.conditions[condition].value == value)
        #expect(bench.device.conditions[condition].source == .hand)
        bench.set(condition, condition.row.harmless, by: .daemon)
        #expect(bench.device.conditions[condition].value == value)
        bench.send(.condition(condition, .hand, .silent))
        #expect(bench.device.conditions[condition].value == condition.row.harmless)
        try bench.restart()
        #expect(bench.device.conditions[condition].source != .hand)
    }

    @Test func `every row reads what it writes`() {
        for condition in Condition.allCases {
            let row = condition.row
            #expect(Condition(named: row.name) == condition)
            for value in [row.harmless, row.cautious] {
                #expect(row.value(row.word(value).filter { $0 != " " }) == value)
            }
            #expect(row.value("nonsense") == nil)
            #expect(!row.choices.isEmpty)
            #expect(!row.documentation.isEmpty)
        }
        #expect(Condition.battery.row.value("101") == nil)
        #expect(Condition.battery.row.value("-1") == nil)
        #expect(Condition.battery.row.value("40%") == 40)
        #expect(Condition(named: "x") == nil)
    }

    @Test
    func `protected data is locked unless the lock is off, or there is none`() {
        for (reading, isHeld) in [
            (Reading.value(0), false), (.value(1), true), (.value(2), true), (.silent, true),
            (.noDevice, false),
            (.lost, true),
        ] {
            for asks in [false, true] {
                var bench = Bench(isSensed: false)
                bench.send(.condition(.locked, .logind, reading))
                bench.ask(
                    .submit(
                        Submission(
                            kind: .processing,
                            needs: Needs(unlocked: asks),
                            command: ["app"]
                        )
                    )
                )
                let gates = bench.gates("command.app")
                #expect(gates.contains("data-protection") == (asks && isHeld), "\(reading)")
            }
        }
    }

    @Test func `each has its place in arrays, and its own row`() {
        #expect(Condition.allCases.map(\.index) == Array(Condition.allCases.indices))
        for condition in Condition.allCases {
            let name = condition.row.name
            #expect(name.replacing("-", with: "") == condition.rawValue.lowercased())
        }
    }

    /// An earlier build had fewer.
    @Test(arguments: ["states", "cameBack"])
    func `a log of a build that knows other conditions is refused`(_ field: String) throws {
        var bytes = try EventLog.piece(EventLog.Header(build: "this", device: Device()))
        #expect(try Replay(bytes).events == 0)
        let header = EventLog.Header(build: "earlier", device: Device())
        var fields = try #require(try ValueEncoder().encode(header).mapValue)
        var device = try #require(fields["device"]?.mapValue)
        var conditions = try #require(device["conditions"]?.mapValue)
        let all = try #require(conditions[field]?.listValue)
        #expect(all.count == Condition.allCases.count)
        conditions[field] = .list(Array(all.dropLast()))
        device["conditions"] = .map(conditions)
        fields["device"] = .map(device)
        bytes = try EventLog.piece(Value.map(fields))
        #expect(throws: Replay.Problem.self) { try Replay(bytes) }
    }
}
