import Testing
import Vocabulary

struct ValueCodingTests {
    enum Event: Codable, Hashable, Sendable {
        case started
        case ended(status: Int32, core: Bool)
        case named(String)
        case nested(Inner)

        struct Inner: Codable, Hashable, Sendable {
            var list: [Event]
            var maybe: Double?
        }
    }

    enum Plain: String, Codable, Sendable { case one, two }

    struct Record: Codable, Hashable, Sendable {
        var id: LaunchID
        var app: AppID
        var until: BootTime?
        var every: Interval
        var flag: Bool
        var small: Int8
        var large: UInt64
        var ratio: Double
        var single: Float
        var names: [String]
        var payload: Bytes
        var tree: Value
        var plain: Plain
        var events: [Event]
        var matrix: [[Int?]]
        var byName: [String: Interval]
    }

    static let record = Record(
        id: LaunchID(7),
        app: AppID("org.example.Reader"),
        until: nil,
        every: .minutes(15),
        flag: true,
        small: -128,
        large: UInt64(Int64.max),
        ratio: 0.25,
        single: 1.5,
        names: ["a", ""],
        payload: [0, 255],
        tree: ["x": [1, .null]],
        plain: .two,
        events: [
            .started, .ended(status: -1, core: false), .named("n"),
            .nested(.init(list: [.started], maybe: nil)),
        ],
        matrix: [[1, nil], []],
        byName: ["b": .zero, "a": .seconds(1)]
    )

    @Test func aRecordBecomesAMapOfItsFieldsWithoutTheAbsentOnes() throws {
        let value = try ValueEncoder().encode(Self.record)
        let expected: Value = [
            "id": 7, "app": "org.example.Reader", "every": 900_000_000_000, "flag": true,
            "small": -128, "large": .integer(.max), "ratio": 0.25, "single": 1.5,
            "names": ["a", ""], "payload": .bytes([0, 255]), "tree": ["x": [1, .null]],
            "plain": "two",
            "events": [
                ["started": [:]], ["ended": ["status": -1, "core": false]],
                ["named": ["_0": "n"]],
                ["nested": ["_0": ["list": [["started": [:]]]]]],
            ],
            "matrix": [[1, .null], []], "byName": ["a": 1_000_000_000, "b": 0],
        ]
        #expect(value == expected)
    }

    @Test func aRecordComesBackFromItsValueAndFromItsBytes() throws {
        let value = try ValueEncoder().encode(Self.record)
        #expect(try ValueDecoder().decode(Record.self, from: value) == Self.record)
        let bytes = try ValueEncoder().bytes(Self.record)
        #expect(try ValueDecoder().decode(Record.self, from: bytes) == Self.record)
    }

    @Test func anAbsentOrNullFieldIsNil() throws {
        struct Optionals: Codable, Hashable, Sendable {
            var a: Int?
            var b: String?
            var c: Event?
            var d: Bool?
            var e: Double?
        }
        let none = Optionals()
        #expect(try ValueEncoder().encode(none) == [:])
        #expect(try ValueDecoder().decode(Optionals.self, from: [:]) == none)
        let nulls: Value = [
            "a": .null, "b": .null, "c": .null, "d": .null, "e": .null,
        ]
        #expect(try ValueDecoder().decode(Optionals.self, from: nulls) == none)
        let some = Optionals(a: 1, b: "b", c: .named("c"), d: false, e: 0.5)
        let value = try ValueEncoder().encode(some)
        #expect(try ValueDecoder().decode(Optionals.self, from: value) == some)
    }

    @Test func setsAndDictionariesMakeTheSameBytesWhateverTheirOrderInMemory() throws {
        struct Holder: Codable, Hashable, Sendable {
            var set: Set<AppID>
            var byLaunch: [LaunchID: String]
            var byCase: [Plain: Int]
        }
        let numbers = (0..<64).map { UInt64($0 * 37 % 64) }
        func holder(_ numbers: [UInt64]) -> Holder {
            var holder = Holder(set: [], byLaunch: [:], byCase: [:])
            holder.set.reserveCapacity(numbers.first == 0 ? 10 : 500)
            holder.byLaunch.reserveCapacity(numbers.first == 0 ? 10 : 500)
            for number in numbers {
                holder.set.insert(AppID("app\(number)"))
                holder.byLaunch[LaunchID(number)] = "\(number)"
                holder.byCase[number % 2 == 0 ? .one : .two] = 1
            }
            return holder
        }
        let value = try ValueEncoder().encode(holder(numbers))
        #expect(try ValueEncoder().encode(holder(numbers.reversed())) == value)
        #expect(value["set"]?[0] == "app0")
        #expect(value["set"]?[63] == "app63")
        #expect(try ValueDecoder().decode(Holder.self, from: value) == holder(numbers))
    }

    @Test func anIntegerOfMoreThan64BitsWithSignIsAnErrorThatNamesTheField() {
        struct Outer: Codable { var list: [Record.ID] }
        let outer = Outer(list: [.init(number: 1), .init(number: 1 << 63)])
        let error = #expect(throws: ValueError.self) { try ValueEncoder().encode(outer) }
        #expect(error?.path == "list[1].number")
        #expect(error?.description.contains("9223372036854775808") == true)
        #expect(throws: ValueError.self) { try ValueEncoder().encode(LaunchID(.max)) }
    }

    @Test(
        arguments: [
            (["list": [[:]]], ValueError.Reason.missing, "list[0].number"),
            (["list": [["number": "one"]]], .mismatch, "list[0].number"),
            (["list": [["number": -1]]], .mismatch, "list[0].number"),
            (["list": [["number": 1], 5]], .mismatch, "list[1]"),
            (["list": .null], .mismatch, "list"),
            ([:], .missing, "list"),
            (3, .mismatch, ""),
        ] as [(Value, ValueError.Reason, String)]
    )
    func decodingSaysWhichFieldIsWrong(
        value: Value,
        reason: ValueError.Reason,
        path: String
    ) {
        struct Outer: Codable { var list: [Record.ID] }
        let error = #expect(throws: ValueError.self) {
            try ValueDecoder().decode(Outer.self, from: value)
        }
        #expect(error?.reason == reason)
        #expect(error?.path == path)
    }

    @Test func whatATypesOwnDecodingRefusesIsNamedToo() {
        struct Outer: Codable { var plain: [Plain] }
        let unknown = #expect(throws: ValueError.self) {
            try ValueDecoder().decode(Outer.self, from: ["plain": ["one", "three"]])
        }
        #expect(unknown?.path == "plain[1]")
        #expect(unknown?.description.contains("three") == true)
        let twoCases = #expect(throws: ValueError.self) {
            try ValueDecoder().decode(Event.self, from: ["started": [:], "named": ["_0": "x"]])
        }
        #expect(twoCases?.reason == .mismatch)
        #expect(throws: ValueError.self) {
            try ValueDecoder().decode(Event.self, from: ["stopped": [:]])
        }
    }

    @Test func handWrittenContainersOfEveryKindGoBothWays() throws {
        let value = try ValueEncoder().encode(ByHand(numbers: [1, 2], name: "n"))
        #expect(value == ["nested": ["list": [1, 2, [true], ["n": "n"]]], "super": "s"])
        let back = try ValueDecoder().decode(ByHand.self, from: value)
        #expect(back.numbers == [1, 2])
        #expect(back.name == "n")
    }

    @Test func nestingBeyondWhatDecodingTakesIsRefused() throws {
        final class Chain: Codable {
            var next: Chain?
            init(_ length: Int) { next = length > 1 ? Chain(length - 1) : nil }
        }
        let value = try ValueEncoder().encode(Chain(64))
        #expect(throws: Never.self) { try ValueBytes.decode(ValueBytes.encode(value)) }
        let error = #expect(throws: ValueError.self) { try ValueEncoder().encode(Chain(65)) }
        #expect(error?.reason == .tooDeep)
        #expect(throws: ValueError.self) { try ValueEncoder().encode(Chain(5000)) }
        let wrapped = #expect(throws: ValueError.self) { try ValueEncoder().encode([value]) }
        #expect(wrapped?.reason == .tooDeep)
    }

    @Test func scalarsStandForThemselves() throws {
        #expect(try ValueEncoder().encode(5) == 5)
        #expect(try ValueEncoder().encode(Int?.none) == .null)
        #expect(try ValueEncoder().encode([Int]()) == [])
        #expect(try ValueDecoder().decode(Int?.self, from: .null) == nil)
        #expect(try ValueDecoder().decode(Double.self, from: 3) == 3.0)
        #expect(throws: ValueError.self) { try ValueDecoder().decode(Int.self, from: 3.0) }
    }

    struct ByHand: Codable {
        var numbers: [Int]
        var name: String

        init(numbers: [Int], name: String) { (self.numbers, self.name) = (numbers, name) }

        enum Key: CodingKey { case nested, list, n }

        init(from decoder: any Decoder) throws {
            let outer = try decoder.container(keyedBy: Key.self)
            let inner = try outer.nestedContainer(keyedBy: Key.self, forKey: .nested)
            var list = try inner.nestedUnkeyedContainer(forKey: .list)
            numbers = [try list.decode(Int.self), try list.decode(Int.self)]
            var flags = try list.nestedUnkeyedContainer()
            #expect(try flags.decode(Bool.self))
            #expect(flags.isAtEnd)
            name = try list.nestedContainer(keyedBy: Key.self).decode(String.self, forKey: .n)
            #expect(throws: ValueError.self) { try list.decode(Int.self) }
            #expect(try outer.superDecoder().singleValueContainer().decode(String.self) == "s")
        }

        func encode(to encoder: any Encoder) throws {
            var outer = encoder.container(keyedBy: Key.self)
            var inner = outer.nestedContainer(keyedBy: Key.self, forKey: .nested)
            var list = inner.nestedUnkeyedContainer(forKey: .list)
            var above = outer.superEncoder().singleValueContainer()
            for number in numbers { try list.encode(number) }
            var flags = list.nestedUnkeyedContainer()
            var names = list.nestedContainer(keyedBy: Key.self)
            try names.encode(name, forKey: .n)
            try above.encode("s")
            try flags.encode(true)
        }
    }
}

extension ValueCodingTests.Record {
    struct ID: Codable { var number: UInt64 }
}
