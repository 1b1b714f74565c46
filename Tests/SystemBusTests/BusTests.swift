import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Our client and our server with one another, peer to peer.
struct BusTests {
    let server: EchoServer
    let bus: Bus

    init() throws {
        server = try EchoServer()
        bus = try Bus.connect(toSocket: server.socket)
    }

    static func target(_ member: String) -> Target {
        Target(nil, EchoServer.path, EchoServer.interface.name, member)
    }

    func call(
        _ member: String,
        _ arguments: [Value] = [],
        _ signature: String = ""
    ) throws -> [Value] {
        try bus.call(Self.target(member), arguments, signature: signature)
    }

    // MARK: Values

    @Test func valuesOfAllKindsComeBackAsTheyWere() throws {
        let deep: Value = ["a": ["b": [1, [2.5, ["c": .bytes([1, 2])]]]]]
        for value: Value in [
            .null, true, false, 0, -1, .integer(.max), .integer(.min), 0.5, .double(.infinity),
            "", "grün 🌱", .bytes([]), .bytes([0, 255]), [], [.null], [1, "two", [3.0]], [:],
            ["null": .null], deep,
        ] {
            #expect(try call("Echo", [value], "v") == [value])
        }
    }

    @Test func everyTypeIsSentAndRead() throws {
        let signature = "ybnqiuxtdsogayas(is)a{sv}a{us}"
        let low: [Value] = [
            0, false, -32768, 0, -2_147_483_648, 0, .integer(.min), 0, 2.5, "", "/", "",
            .bytes([]), [], [-1, ""], [:], [],
        ]
        let high: [Value] = [
            255, true, 32767, 65535, 2_147_483_647, 4_294_967_295, .integer(.max),
            .integer(.max), .double(-.infinity), "text", "/a/b", "a{sv}", .bytes([1, 2]),
            ["x", "y"], [7, "seven"], ["k": ["deep": 1]], [[1, "one"], [2, "two"]],
        ]
        #expect(try call("Types", low, signature) == [.list(low)])
        #expect(try call("Types", high, signature) == [.list(high)])
    }

    @Test(
        arguments: [
            ("y", 256), ("y", -1), ("y", "a"), ("b", 1), ("n", 32768), ("q", -1),
            ("i", 2_147_483_648),
            ("u", 4_294_967_296), ("t", -1), ("x", 1.5), ("d", "1"), ("s", 1), ("s", "a\0b"),
            ("o", "no path"), ("g", "?"), ("ay", [1]), ("as", "a"), ("as", [1]), ("(is)", [1]),
            ("(is)", [1, "a", 2]), ("a{sv}", 1), ("a{sv}", [["a"]]), ("a{sv}", [[1, 2]]),
            ("a{us}", ["a": "b"]), ("v", "a\0b"),
        ] as [(String, Value)]
    )
    func aValueThatDoesNotFitItsTypeIsNotSent(type: String, value: Value) {
        let error = failure { _ = try call("Echo", [value], type) }
        #expect(error?.reason == .unsuitable, "\(String(describing: error))")
        #expect(error?.operation == "encode")
    }

    @Test(arguments: ["h", "z", "a", "(", "()", "(s", "a{vs}", "a{s", "a{s}", "{sv}"])
    func aSignatureThatIsNoneIsRefused(signature: String) {
        #expect(failure { _ = try call("Echo", [1], signature) }?.reason == .unsuitable)
    }

    @Test func aValueTooDeepForDBusIsRefused() {
        var value: Value = 1
        for _ in 0..<32 { value = [value] }
        #expect(failure { _ = try call("Echo", [value], "v") }?.reason == .tooLarge)
    }

    @Test func tooManyOrTooFewArgumentsAreRefused() {
        #expect(failure { _ = try call("Echo", [], "v") }?.reason == .unsuitable)
        #expect(failure { _ = try call("Echo", [1, 2], "v") }?.reason == .unsuitable)
    }

    // MARK: Calls

    @Test func anErrorOfThePeerIsReportedByItsName() throws {
        let error = try #require(
            failure { _ = try call("Refuse", ["org.example.Error.No", "not today"], "ss") }
        )
        #expect(error.reason == .refused("org.example.Error.No"))
        #expect(error.message == "not today")
        #expect(error.subject == "org.example.Echo1.Refuse")
    }

    @Test func whatIsNotThereIsRefused() throws {
        let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
        #expect(failure { _ = try call("Missing") }?.reason == .refused(unknownMethod))
        let elsewhere = Target(nil, "/nowhere", EchoServer.interface.name, "Echo")
        #expect(
            failure { _ = try bus.call(elsewhere) }?.reason
                == .refused("org.freedesktop.DBus.Error.UnknownObject")
        )
        #expect(
            failure { _ = try call("Echo", ["s"], "s") }?.reason
                == .refused("org.freedesktop.DBus.Error.InvalidArgs")
        )
    }

    @Test func anotherDestinationIsRefused() throws {
        for ours in [EchoServer.name, ":1.0", nil] {
            let target = Target(ours, EchoServer.path, EchoServer.interface.name, "Echo")
            #expect(try bus.call(target, [1], signature: "v") == [1])
        }
        let other = Target("org.example.Other", EchoServer.path, "org.example.Echo1", "Echo")
        let error = try #require(failure { _ = try bus.call(other, [1], signature: "v") })
        #expect(error.reason == .refused("org.freedesktop.DBus.Error.ServiceUnknown"))
    }

    @Test func aDroppedCallIsAnsweredWithAnError() throws {
        let error = try #require(failure { _ = try call("Drop") })
        #expect(error.reason == .refused("org.freedesktop.DBus.Error.Failed"))
        #expect(error.message == "the call was dropped without an answer")
    }

    @Test func anAnswerThatDBusCannotCarryIsAnsweredWithAnError() throws {
        let error = try #require(failure { _ = try call("Unsendable") })
        #expect(error.reason == .refused("org.freedesktop.DBus.Error.Failed"))
    }

    @Test func argumentsAboveTheLimitAreRefusedAndTheConnectionGoesOn() throws {
        let large = Value.bytes([UInt8](repeating: 1, count: 1 << 20))
        let many = Value.list([Value](repeating: 1, count: 40_000))
        for value in [large, many] {
            let error = try #require(failure { _ = try call("Echo", [value], "v") })
            #expect(error.reason == .refused("org.freedesktop.DBus.Error.LimitsExceeded"))
        }
        #expect(try call("Echo", [1], "v") == [1])
    }

    @Test func aKeyThatOccursTwiceIsRefused() throws {
        let twice: Value = [["a", 1], ["a", 2]]
        let error = try #require(
            failure {
                _ = try call(
                    "Types",
                    [
                        0, false, 0, 0, 0, 0, 0, 0, 0, "", "/", "", .bytes([]), [], [0, ""],
                        twice, [],
                    ],
                    "ybnqiuxtdsogayas(is)a{sv}a{us}"
                )
            }
        )
        #expect(error.reason == .refused("org.freedesktop.DBus.Error.InvalidArgs"))
    }

    @Test func anAnswerMayComeLaterAndOutOfOrder() throws {
        var answers: [String] = []
        for text in ["one", "two"] {
            try bus.call(Self.target("Later"), [.string(text)], signature: "s") { answer in
                answers.append((try? answer.get().first?.stringValue) ?? "\(answer)")
            }
        }
        try bus.call(Self.target("Now")) { answer in answers.append("\(answer)") }
        #expect(try bus.work(for: .minutes(1)) { answers.count == 3 })
        #expect(answers == ["success([2])", "one", "two"])
    }

    @Test func aCallThatIsNotAnsweredTimesOut() throws {
        let error = try #require(
            failure {
                _ = try bus.call(
                    Self.target("Later"),
                    ["never"],
                    signature: "s",
                    timeout: .milliseconds(20)
                )
            }
        )
        #expect(error.reason == .timedOut)
        var answers: [Result<[Value], BusError>] = []
        try bus.call(
            Self.target("Later"),
            ["never"],
            signature: "s",
            timeout: .milliseconds(20)
        ) { answers.append($0) }
        #expect(try bus.work(for: .minutes(1)) { !answers.isEmpty })
        #expect(failure { _ = try answers[0].get() }?.reason == .timedOut)
    }

    @Test func aThousandCallsInARowAreAllAnswered() throws {
        var answers: [Value] = []
        for number in 0..<1000 as Range<Int64> {
            try bus.call(Self.target("Echo"), [.integer(number)], signature: "v") { answer in
                answers += (try? answer.get()) ?? []
            }
        }
        #expect(try bus.work(for: .minutes(1)) { answers.count == 1000 })
        #expect(answers == (0..<1000).map { .integer($0) })
    }

    @Test func propertiesAreRead() throws {
        let object = (nil as String?, EchoServer.path, EchoServer.interface.name)
        let empty = (nil as String?, EchoServer.path, EchoServer.empty.name)
        #expect(try bus.property("Version", of: object) == "1.0")
        #expect(try bus.property("Number", of: object) == 0)
        #expect(
            failure { _ = try bus.property("Nothing", of: empty) }?.reason
                == .refused("org.freedesktop.DBus.Error.Failed")
        )
        #expect(
            failure { _ = try bus.property("Missing", of: object) }?.reason
                == .refused("org.freedesktop.DBus.Error.UnknownProperty")
        )
        var answers: [Result<ValueMap, BusError>] = []
        try bus.properties(of: object) { answers.append($0) }
        #expect(try bus.work(for: .minutes(1)) { !answers.isEmpty })
        #expect(try answers[0].get() == ["Number": 0, "Version": "1.0"])
    }

    // MARK: Signals

    @Test func aSignalArrivesWhileItsSubscriptionIsKept() throws {
        var heard: [SignalMessage] = []
        var subscription: Subscription? = try bus.onSignal(
            "Shouted",
            of: EchoServer.interface.name,
            at: EchoServer.path
        ) { heard.append($0) }
        _ = try call("Shout", ["hello"], "s")
        #expect(try bus.work(for: .minutes(1)) { !heard.isEmpty })
        #expect(heard.map(\.arguments) == [["hello"]])
        #expect(heard[0].path == EchoServer.path)
        #expect(subscription != nil)
        subscription = nil
        _ = try call("Shout", ["again"], "s")
        _ = try call("Echo", [1], "v")
        #expect(heard.count == 1)
    }

    @Test func aSubscriptionMayEndInItsOwnHandler() throws {
        var subscription: Subscription?
        var count = 0
        subscription = try bus.onSignal("Shouted", of: EchoServer.interface.name) { _ in
            count += 1
            subscription = nil
        }
        #expect(subscription != nil)
        _ = try call("Shout", ["one"], "s")
        #expect(try bus.work(for: .minutes(1)) { count == 1 })
        _ = try call("Shout", ["two"], "s")
        _ = try call("Echo", [1], "v")
        #expect(count == 1)
    }

    @Test func aSignalOfAnotherPathOrInterfaceIsNotHeard() throws {
        var heard = 0
        let elsewhere = try bus.onSignal("Shouted", of: EchoServer.interface.name, at: "/other") {
            _ in heard += 1
        }
        let other = try bus.onSignal("Shouted", of: "org.example.Other1") { _ in heard += 1 }
        _ = try call("Shout", ["hello"], "s")
        _ = try call("Echo", [1], "v")
        #expect(heard == 0)
        withExtendedLifetime((elsewhere, other)) {}
    }

    @Test func aChangedPropertyIsTold() throws {
        var told: [Value] = []
        let subscription = try bus.onSignal(
            "PropertiesChanged",
            of: "org.freedesktop.DBus.Properties",
            at: EchoServer.path
        ) { told.append(.list($0.arguments)) }
        _ = try call("Change", [42], "x")
        #expect(try bus.work(for: .minutes(1)) { !told.isEmpty })
        #expect(told == [["org.example.Echo1", ["Number": 42], []]])
        withExtendedLifetime(subscription) {}
    }

    // MARK: The connection

    @Test func whoCallsIsKnownByTheSocket() throws {
        #expect(
            try call("Who") == [
                .integer(Int64(CurrentProcess.pid)), .integer(Int64(CurrentProcess.user)),
            ]
        )
    }

    @Test func anEndedConnectionIsTold() throws {
        var ended = false
        try bus.onDisconnect { ended = true }
        #expect(failure { _ = try call("Close") }?.reason == .disconnected)
        #expect(try bus.work(for: .minutes(1)) { ended })
        try server.await("ended 1")
        #expect(failure { _ = try call("Echo", [1], "v") }?.reason == .disconnected)
    }

    @Test func aCallThatWaitsWhenTheConnectionEndsFails() throws {
        var answers: [Result<[Value], BusError>] = []
        try bus.call(Self.target("Later"), ["never"], signature: "s") { answers.append($0) }
        try bus.call(Self.target("Close")) { answers.append($0) }
        #expect(try bus.work(for: .minutes(1)) { answers.count == 2 })
        for answer in answers { #expect(failure { _ = try answer.get() }?.reason == .disconnected) }
    }

    @Test func theServerOutlivesItsPeers() throws {
        for number in 2...20 {
            let other = try Bus.connect(toSocket: server.socket)
            #expect(try other.call(Self.target("Echo"), [1], signature: "v") == [1])
            try other.call(Self.target("Later"), ["never"], signature: "s") { _ in }
            _ = try other.call(Self.target("Echo"), [1], signature: "v")
            other.close()
            try server.await("ended \(number)")
        }
        // The calls of those that are gone are answered into nothing.
        #expect(try call("Now") == [19])
    }
}

/// The error that `body` threw, if it did.
func failure(_ body: () throws -> Void) -> BusError? { caught(body) }
