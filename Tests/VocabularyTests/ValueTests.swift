import Testing
import Vocabulary

struct ValueTests {
    @Test func aMapIsAlwaysInTheOrderOfItsKeysBytes() {
        let keys = ["b", "a", "é", "z", "aa", "", "Z", "e\u{301}", "a"]
        let map = ValueMap(keys.enumerated().map { ($1, .integer(Int64($0))) })
        #expect(map.keys == ["", "Z", "a", "aa", "b", "e\u{301}", "z", "é"])
        #expect(map["a"] == 8)
        #expect(map["é"] == 2)
        #expect(map["e\u{301}"] == 7)
        #expect(map["x"] == nil)
    }

    @Test(arguments: UInt64(0)..<16)
    func aMapKeepsWhatWasSetLast(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var model: [String: Int64] = [:]
        var map = ValueMap()
        var pairs: [(String, Value)] = []
        for step in 0..<Int64(200) {
            let key = String(random.below(60), radix: 3)
            if random.chance(1, in: 4) {
                (model[key], map[key]) = (nil, nil)
                pairs.removeAll { $0.0 == key }
            } else {
                (model[key], map[key]) = (step, .integer(step))
                pairs.append((key, .integer(step)))
            }
        }
        #expect(map.keys == model.keys.sorted())
        for key in model.keys { #expect(map[key]?.integerValue == model[key]) }
        #expect(ValueMap(pairs) == map)
        #expect(map.count == model.count)
    }

    @Test func equalityFollowsTheBytes() {
        #expect(Value.string("é") != .string("e\u{301}"))
        #expect(Value.double(0) != .double(-0.0))
        #expect(Value.double(.nan) == .double(-.nan))
        #expect(Value.integer(1) != .double(1))
        #expect(Value.list([]) != .map([:]))
        #expect(["é": 1] as Value != ["e\u{301}": 1] as Value)
        #expect(["a": 1, "b": [.null]] as Value == ["b": [.null], "a": 1] as Value)
    }

    @Test func fieldsAreReadByKindAndPlace() {
        let value: Value = ["list": [1, "two", 3.5], "flag": true, "data": .bytes([1])]
        #expect(value["list"]?[1]?.stringValue == "two")
        #expect(value["list"]?[2]?.doubleValue == 3.5)
        #expect(value["list"]?[0]?.doubleValue == 1)
        #expect(value["list"]?[3] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value["flag"]?.boolValue == true)
        #expect(value["data"]?.bytesValue == [1])
        #expect(value["flag"]?["x"] == nil)
        #expect(value["flag"]?.integerValue == nil)
        #expect(Value.exactly(UInt64(7)) == 7)
        #expect(Value.exactly(UInt64.max) == nil)
        #expect(Value.integer(1 << 60 + 1).doubleValue == nil)
    }

    static let texts: [(Value, String)] = [
        (.null, "null"), (true, "true"), (-5, "-5"), (1.0, "1.0"), (.double(-0.0), "-0.0"),
        (1e300, "1e+300"), (0.1, "0.1"), ([], "[]"), ([:], "{}"),
        (["b": [1, .null], "a": [:]], #"{"a":{},"b":[1,null]}"#),
        ("\"\\\n\r\t\0\u{1F}\u{7F}é/", #""\"\\\n\r\t\u0000\u001f\u007fé/""#),
    ]

    @Test(arguments: texts)
    func jsonIsWrittenAndReadBack(value: Value, text: String) throws {
        #expect(value.json() == text)
        #expect(try ValueJSON.parse(text) == value)
    }

    @Test func whatJSONCannotHoldIsWrittenAsItCan() {
        #expect(Value.double(.nan).json() == "null")
        #expect(Value.double(-.infinity).json() == "null")
        let data = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map { Array($0.utf8) }
        #expect(
            data.map { Value.bytes($0).json() } == [
                #""""#, #""Zg==""#, #""Zm8=""#, #""Zm9v""#, #""Zm9vYg==""#, #""Zm9vYmE=""#,
                #""Zm9vYmFy""#,
            ]
        )
        #expect(Value.bytes([0xFB, 0xFF]).json() == #""+/8=""#)
    }

    @Test func prettyJSONHasALineForEachField() {
        let value: Value = ["a": [1, 2], "b": [:], "c": ["d": []]]
        let text = """
            {
              "a": [
                1,
                2
              ],
              "b": {},
              "c": {
                "d": []
              }
            }
            """
        #expect(value.json(pretty: true) == text)
    }

    @Test(arguments: UInt64(0)..<32)
    func anyValueComesBackFromItsJSON(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            let value = random.value()
            let back = try ValueJSON.parse(value.json(pretty: random.chance(1, in: 2)))
            // Bytes come back as text, and what is not a number as null.
            #expect(back.json() == value.json())
        }
    }

    @Test(
        arguments: [
            (" [ 1 , { \"a\" : -0.5e-1 } ] \n", [1, ["a": -0.05]]),
            ("\"\\u00e9\\ud83d\\ude00\"", "é😀"),
            ("1E2", 100.0), ("-0", 0), ("\"\\b\\f\\/\"", "\u{8}\u{C}/"),
            ("-9223372036854775808", .integer(.min)),
        ] as [(String, Value)]
    )
    func whatOthersWriteIsRead(text: String, value: Value) throws {
        #expect(try ValueJSON.parse(text) == value)
    }

    @Test(arguments: [
        ("", ValueError.Reason.truncated, 0), ("[1", .truncated, 2), ("\"a", .truncated, 2),
        ("tru", .truncated, 3), ("-", .truncated, 1), ("1.", .truncated, 2),
        ("{\"a\"", .truncated, 4),
        ("1 2", .trailing, 2), ("01", .trailing, 1), ("[1,]", .syntax, 3), ("{,}", .syntax, 1),
        ("{a:1}", .syntax, 1), ("'a'", .syntax, 0), ("+1", .syntax, 0), (".5", .syntax, 0),
        ("NaN", .syntax, 0), ("[1 2]", .syntax, 3), ("\"\n\"", .syntax, 1), ("\"\\x\"", .syntax, 2),
        ("\"\\u12g4\"", .syntax, 5), ("// x\n1", .syntax, 0),
        ("\"\\ud800\"", .notText, 3), ("\"\\udc00\\ud800\"", .notText, 3),
        ("\"\\ud800\\u0041\"", .notText, 3),
        ("{\"a\":1,\"a\":2}", .duplicateKey, 1),
        ("9223372036854775808", .unsupported, 0), ("1e999", .unsupported, 0),
        (String(repeating: "[", count: 65), .tooDeep, 64),
        (String(repeating: "{\"a\":", count: 70), .tooDeep, 320),
    ])
    func whatIsNotJSONIsRefusedWithItsPlace(
        text: String,
        reason: ValueError.Reason,
        offset: Int
    ) {
        let error = #expect(throws: ValueError.self) { try ValueJSON.parse(text) }
        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
    }

    @Test func jsonIsBoundedAndMustBeUTF8() {
        let tooLarge = #expect(throws: ValueError.self) { try ValueJSON.parse("12345", limit: 4) }
        #expect(tooLarge?.reason == .tooLarge)
        let notText = #expect(throws: ValueError.self) {
            try ValueJSON.parse([0x22, 0xFF, 0x22])
        }
        #expect(notText?.reason == .notText)
    }

    @Test func messagesSayWhereAndWhat() {
        let error = ValueError(.missing, path: "a.b[3]", "is missing")
        #expect(error.description == "a.b[3]: is missing")
        #expect(ValueError(.syntax, offset: 3, "no").description == "byte 3: no")
        #expect("a\"\n\u{7}\u{202E}".quoted == #""a\"\n\u{7}\u{202e}""#)
        #expect(String(repeating: "x", count: 100).quoted.count == 83)
    }
}
