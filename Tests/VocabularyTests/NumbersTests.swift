import Testing
import Vocabulary

struct NumbersTests {
    @Test func theGeneratorIsTheReferenceOne() throws {
        var random = try ValueDecoder().decode(SeededRandom.self, from: [1, 2, 3, 4])
        let draws: [UInt64] = (0..<10).map { _ in random.next() }
        #expect(
            draws == [
                11520, 0, 1_509_978_240, 1_215_971_899_390_074_240, 1_216_172_134_540_287_360,
                607_988_272_756_665_600, 16_172_922_978_634_559_625, 8_476_171_486_693_032_832,
                10_595_114_339_597_558_777, 2_904_607_092_377_533_576,
            ]
        )
        let seeded = try ValueEncoder().encode(SeededRandom(seed: 0))
        let state = seeded.listValue?.compactMap(\.integerValue).map { UInt64(bitPattern: $0) }
        #expect(
            state == [
                0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F,
                0xF88B_B8A8_724C_81EC,
            ]
        )
    }

    @Test func aGeneratorGoesOnWhereItsSnapshotWasTaken() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<10 { _ = random.next() }
        let value = try ValueEncoder().encode(random)
        var copy = try ValueDecoder().decode(SeededRandom.self, from: value)
        #expect(copy == random)
        #expect(copy.next() == random.next())
        #expect(throws: ValueError.self) {
            try ValueDecoder().decode(SeededRandom.self, from: [0, 0, 0, 0])
        }
        #expect(throws: ValueError.self) {
            try ValueDecoder().decode(SeededRandom.self, from: [1, 2])
        }
    }

    @Test func drawsStayInTheirRangeAndReachAllOfIt() {
        var random = SeededRandom(seed: 1)
        var counts = [Int](repeating: 0, count: 6)
        for _ in 0..<6000 { counts[random.below(6)] += 1 }
        #expect(counts.allSatisfy { (850...1150).contains($0) }, "\(counts)")
        var seen: Set<Int64> = []
        for _ in 0..<200 { seen.insert(random.within(-2...2)) }
        #expect(seen == [-2, -1, 0, 1, 2])
        for _ in 0..<100 {
            _ = random.within(.min ... .max)
            #expect(random.below(1) == 0)
            #expect((0..<1).contains(random.fraction()))
            #expect(random.below(UInt64.max) < .max)
        }
        let chosen = (0..<1000).filter { _ in random.chance(1, in: 4) }
        #expect((200...300).contains(chosen.count))
    }

    @Test func aSplitGeneratorGoesItsOwnWay() {
        var random = SeededRandom(seed: 9)
        var split = random.split()
        #expect(split != random)
        #expect(split.next() != random.next())
        #expect(SeededRandom(seed: 1) != SeededRandom(seed: 2))
    }

    @Test func fingerprintsAreThoseOfTheReference() throws {
        #expect(Fingerprint().description == "cbf29ce484222325")
        #expect(Fingerprint(of: "a").description == "af63dc4c8601ec8c")
        #expect(Fingerprint(of: "foobar").description == "85944171f73967e8")
        var pieces = Fingerprint(of: "foo")
        pieces.combine("bar".utf8)
        #expect(pieces == Fingerprint(of: "foobar"))
        #expect(Fingerprint(of: ["a": 1] as Value) == Fingerprint(of: [0xA1, 0x61, 0x61, 0x01]))
        let value = try ValueEncoder().encode(pieces)
        #expect(value == "85944171f73967e8")
        #expect(try ValueDecoder().decode(Fingerprint.self, from: value) == pieces)
        #expect(throws: ValueError.self) {
            try ValueDecoder().decode(Fingerprint.self, from: "+5944171f73967e8")
        }
    }
}
