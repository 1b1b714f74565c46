import Testing
import Vocabulary

struct ValueBytesTests {
    /// The examples of RFC 8949 appendix A that our types can hold and that are deterministic.
    static let vectors: [(Value, String)] = [
        (0, "00"), (1, "01"), (10, "0a"), (23, "17"), (24, "1818"), (25, "1819"), (100, "1864"),
        (1000, "1903e8"), (1_000_000, "1a000f4240"),
        (1_000_000_000_000, "1b000000e8d4a51000"),
        (.integer(.max), "1b7fffffffffffffff"), (.integer(.min), "3b7fffffffffffffff"),
        (-1, "20"), (-10, "29"), (-100, "3863"), (-1000, "3903e7"),
        (0.0, "f90000"), (.double(-0.0), "f98000"), (1.0, "f93c00"),
        (1.1, "fb3ff199999999999a"), (1.5, "f93e00"), (65504.0, "f97bff"),
        (100000.0, "fa47c35000"), (3.4028234663852886e+38, "fa7f7fffff"),
        (1.0e+300, "fb7e37e43c8800759c"), (5.960464477539063e-8, "f90001"),
        (0.00006103515625, "f90400"), (-4.0, "f9c400"), (-4.1, "fbc010666666666666"),
        (.double(.infinity), "f97c00"), (.double(.nan), "f97e00"),
        (.double(-.infinity), "f9fc00"),
        (false, "f4"), (true, "f5"), (.null, "f6"),
        (.bytes([]), "40"), (.bytes([1, 2, 3, 4]), "4401020304"),
        ("", "60"), ("a", "6161"), ("IETF", "6449455446"), ("\"\\", "62225c"),
        ("ü", "62c3bc"), ("水", "63e6b0b4"), ("\u{10151}", "64f0908591"),
        ([], "80"), ([1, 2, 3], "83010203"), ([1, [2, 3], [4, 5]], "8301820203820405"),
        (
            .list((1...25).map { .integer($0) }),
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819"
        ),
        ([:], "a0"), (["a": 1, "b": [2, 3]], "a26161016162820203"),
        (["a", ["b": "c"]], "826161a161626163"),
        (
            ["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"],
            "a56161614161626142616361436164614461656145"
        ),
    ]

    @Test(arguments: vectors)
    func theExamplesOfTheRFCAreWrittenAndReadAsItShowsThem(
        value: Value,
        hex: String
    ) throws {
        #expect(ValueBytes.encode(value).hex == hex)
        #expect(try ValueBytes.decode(bytes(hex)) == value)
    }

    @Test(arguments: UInt64(0)..<32)
    func anyValueComesBackFromItsBytesWhichAreItsOnlyOnes(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let value = random.value()
            let bytes = ValueBytes.encode(value)
            let back = try ValueBytes.decode(bytes)
            #expect(back == value)
            #expect(back.hashValue == value.hashValue)
            #expect(ValueBytes.encode(back) == bytes)
        }
    }

    @Test(arguments: UInt64(0)..<32)
    func damagedBytesAreRefusedOrAreTheOnlyBytesOfAnotherValue(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var (read, refused) = (0, 0)
        for _ in 0..<400 {
            var bytes = ValueBytes.encode(random.value())
            switch random.below(3) {
            case 0: bytes.removeLast(random.below(bytes.count) + 1)
            case 1: bytes[random.below(bytes.count)] = random.below(255)
            default: bytes.insert(random.below(255), at: random.below(bytes.count + 1))
            }
            guard let value = try? ValueBytes.decode(bytes) else {
                refused += 1
                continue
            }
            #expect(ValueBytes.encode(value) == bytes)
            read += 1
        }
        #expect(read > 0 && refused > 0, "\(read) read, \(refused) refused")
    }

    @Test(arguments: [
        ("", ValueError.Reason.truncated, 0), ("18", .truncated, 1), ("1a0000", .truncated, 3),
        ("62c3", .truncated, 2), ("8301", .truncated, 2), ("f93e", .truncated, 2),
        ("9b7fffffffffffffff", .truncated, 9), ("bb7fffffffffffffff", .truncated, 9),
        ("5bffffffffffffffff", .truncated, 9), ("a1", .truncated, 1), ("a16161", .truncated, 3),
        ("0000", .trailing, 1),
        ("1817", .notCanonical, 0), ("1900ff", .notCanonical, 0), ("1a0000ffff", .notCanonical, 0),
        ("1b00000000ffffffff", .notCanonical, 0), ("780161", .notCanonical, 0),
        ("a2616201616102", .notCanonical, 4), ("a262616101616102", .notCanonical, 5),
        ("fa3fc00000", .notCanonical, 0), ("fb3ff8000000000000", .notCanonical, 0),
        ("f97e01", .notCanonical, 0), ("f9fe00", .notCanonical, 0),
        ("fb7ff8000000000000", .notCanonical, 0),
        ("a2616101616102", .duplicateKey, 4),
        ("a10102", .unsupported, 1), ("c074323031", .unsupported, 0), ("f7", .unsupported, 0),
        ("e0", .unsupported, 0), ("f820", .unsupported, 0), ("9fff", .unsupported, 0),
        ("5f4101ff", .unsupported, 0), ("7f6161ff", .unsupported, 0), ("bfff", .unsupported, 0),
        ("1c", .unsupported, 0), ("ff", .unsupported, 0), ("1b8000000000000000", .unsupported, 0),
        ("3b8000000000000000", .unsupported, 0),
        ("61ff", .notText, 0), ("62c328", .notText, 0), ("63eda080", .notText, 0),
        ("62c080", .notText, 0), ("8261ff00", .notText, 1),
    ])
    func whatIsNotCanonicalIsRefusedWithPlaceAndReason(
        hex: String,
        reason: ValueError.Reason,
        offset: Int
    ) {
        let error = #expect(throws: ValueError.self) { try ValueBytes.decode(bytes(hex)) }
        #expect(error?.reason == reason)
        #expect(error?.offset == offset)
        #expect(error?.detail.isEmpty == false)
    }

    @Test func nestingEndsAt64Levels() throws {
        func nested(_ levels: Int) -> [UInt8] {
            [UInt8](repeating: 0x81, count: levels - 1) + [0x80]
        }
        #expect(throws: Never.self) { try ValueBytes.decode(nested(64)) }
        let error = #expect(throws: ValueError.self) { try ValueBytes.decode(nested(65)) }
        #expect(error?.reason == .tooDeep)
        #expect(throws: ValueError.self) { try ValueBytes.decode(nested(100_000)) }
    }

    @Test func moreBytesThanTheCallerAllowsAreNotLookedAt() throws {
        let bytes = ValueBytes.encode("12345")
        #expect(try ValueBytes.decode(bytes, limit: 6) == "12345")
        let error = #expect(throws: ValueError.self) {
            try ValueBytes.decode(bytes, limit: 5)
        }
        #expect(error?.reason == .tooLarge)
    }

    @Test func keysAreWrittenShorterFirstAndComeBackInPlainOrder() throws {
        let long = String(repeating: "k", count: 70)
        let map: Value = ["aaa": 1, "b": 2, "ab": 3, .init(long): 4, "": 5]
        let bytes = ValueBytes.encode(map)
        #expect(bytes.hex.hasPrefix("a5600561620262616203636161610178466b"))
        #expect(try ValueBytes.decode(bytes).mapValue?.keys == ["", "aaa", "ab", "b", long])
    }
}

extension [UInt8] {
    var hex: String {
        map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The bytes of hexadecimal digits; spaces are left out.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
