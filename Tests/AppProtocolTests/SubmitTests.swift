@testable import AppProtocol
import Testing
import Vocabulary

/// What `Submit` takes, and what it refuses, each by name.
struct SubmitTests {
    private let plain: ValueMap = ["kind": "refresh", "command": ["true"]]

    private func with(_ name: String, _ value: Value?) -> ValueMap {
        var options = plain
        options[name] = value
        return options
    }

    private static func read(
        _ options: ValueMap,
        byApp: Bool = false
    ) throws(OptionError) -> Control1.Submit {
        let call = try Control1.Submit([.map(options)], strictly: true)
        try call.check(byApp: byApp)
        return call
    }

    private func refusal(_ options: ValueMap) -> OptionError? {
        do throws(OptionError) {
            _ = try Self.read(options)
            return nil
        } catch {
            return error
        }
    }

    @Test func everythingThatCanBeSaid() throws {
        let options = try Self.read([
            "kind": "processing", "command": ["restic", "backup", "a b", ""], "id": "backup",
            "after": 90, "every": 86400.5, "network": true, "power": true, "unmetered": true,
            "unlocked": true,
            "directory": "/home/user", "environment": ["A=B", "EMPTY=", "C==D"],
            "token": "t-1",
        ])
        #expect(options.kind == .processing)
        #expect(options.command == ["restic", "backup", "a b", ""])
        #expect(options.id == "backup")
        #expect(options.after == .seconds(90))
        #expect(options.every == .days(1) + .milliseconds(500))
        #expect(options.needs == Needs(power: true, network: true, unmetered: true, unlocked: true))
        #expect(options.directory == "/home/user")
        #expect(
            options.variables == [
                EnvironmentVariable(name: "A", value: "B"),
                EnvironmentVariable(name: "EMPTY", value: ""),
                EnvironmentVariable(name: "C", value: "=D"),
            ]
        )
        #expect(options.token == "t-1")
    }

    @Test func whatIsLeftOutIsNothing() throws {
        let options = try Self.read(plain)
        #expect(options.kind == .refresh)
        #expect(options.id == nil && options.after == nil && options.every == nil)
        #expect(options.directory == nil && options.token == nil)
        #expect(options.needs == Needs() && options.variables.isEmpty)
    }

    @Test func anOptionThatIsNotKnownIsRefusedByName() throws {
        let error = try #require(refusal(with("netwrok", true)))
        #expect(error.reason == "there is no option of that name")
        #expect(error.value == "netwrok")
        #expect(error.fix.contains("network"))
    }

    @Test(
        arguments: [
            ("kind", nil), ("kind", "fetch"), ("kind", 1), ("command", nil), ("command", []),
            ("command", [""]), ("command", "true"), ("command", [1]), ("command", ["a\0b"]),
            ("id", 1), ("id", .string(String(repeating: "x", count: 4097))), ("id", "a\0b"),
            ("after", -1), ("after", "1h"), ("after", .double(.nan)), ("after", .double(.infinity)),
            ("after", 1e12), ("every", 59.9), ("every", -1), ("network", 1), ("power", "yes"),
            ("unmetered", .null), ("directory", "relative"), ("directory", ""), ("directory", 1),
            ("environment", "A=B"), ("environment", ["A"]), ("environment", ["=B"]),
            ("environment", [1]), ("environment", ["OFFSTAGE_APP=other"]),
            ("environment", ["A=B", "OFFSTAGE_NEW=1"]),
            ("token", .string(String(repeating: "x", count: 65))),
            ("token", .bytes([1])),
        ] as [(String, Value?)]
    )
    func aWrongValueIsRefusedWithReasonAndFix(name: String, value: Value?) throws {
        let error = try #require(refusal(with(name, value)))
        #expect(!error.reason.isEmpty && !error.fix.isEmpty)
        #expect(error.reason.contains(name) || name == "environment" || name == "directory")
    }

    @Test func aTimeThatIsTooFarOffIsRefusedByItsLimit() throws {
        let after = try #require(refusal(with("after", 4_000_000_000)))
        #expect(after.fix == "give a number of seconds from 0 to 3155760000 (100 years)")
        let earliest = try #require(refusal(with("earliest", 1e12)))
        #expect(earliest.reason.contains("at most 9000000000 (the year 2255)"), "\(earliest)")
        #expect(earliest.value == "1000000000000.0")
        #expect(refusal(with("after", .double(.nan)))?.value == "nan")
        #expect(refusal(with("after", .double(.infinity)))?.value == "inf")
    }

    @Test(
        arguments: [
            ("command", ["true"]), ("directory", "/home/user"), ("environment", ["A=B"]),
        ] as [(String, Value)]
    )
    func whatIsForACommandIsRefusedOfAnApp(name: String, value: Value) throws {
        #expect(try Self.read(["kind": "refresh", "id": "x"], byApp: true).command == nil)
        var options: ValueMap = ["kind": "refresh", "id": "x"]
        options[name] = value
        let error = try #require(throws: OptionError.self) {
            try Self.read(options, byApp: true)
        }
        #expect(error.reason.contains("command"))
        #expect(!error.fix.isEmpty)
    }

    @Test func aCommandHasBounds() {
        let long = Value.string(String(repeating: "x", count: 128 << 10))
        #expect(refusal(with("command", ["a", long]))?.reason == "the command is too long")
        let many = Value.list([Value](repeating: "x", count: 1025))
        #expect(refusal(with("command", many)) != nil)
        #expect(refusal(with("environment", many)) != nil)
    }

    @Test func aCallWithoutOptionsSaysSo() throws {
        let error = try #require(throws: OptionError.self) {
            try Control1.Leave(["a", ["x": 1]], strictly: true)
        }
        #expect(error.fix == "this call has no options")
    }

    @Test func numbersHaveTheirBounds() throws {
        func limit(_ value: Value) throws -> Int64? {
            try Control1.History([["limit": value]], strictly: true).limit
        }
        #expect(try limit(1) == 1 && limit(10_000) == 10_000)
        for wrong: Value in [0, 10_001, 1.5, "1"] {
            #expect(throws: OptionError.self) { try limit(wrong) }
        }
        #expect(try Control1.History([[:]], strictly: true).limit == nil)
    }
}
