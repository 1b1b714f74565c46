import Testing
import Vocabulary

struct OmittedIfDefaultTests {
    private struct Sample: Equatable, Codable {
        @OmittedIfDefault var isSet = false
        @OmittedIfDefault var count: Int64 = 0
        @OmittedIfDefault var name = ""
        @OmittedIfDefault var words: [String] = []
        @OmittedIfDefault var needs = Needs()
        @OmittedIfDefault var span = Interval.zero
    }

    @Test func `what is its type's default is not written, and read when absent`() throws {
        let empty: Value = .map([:])
        #expect(try ValueEncoder().encode(Sample()) == empty)
        #expect(try ValueDecoder().decode(Sample.self, from: empty) == Sample())
    }

    @Test func `all else is written as if it were a plain field`() throws {
        let sample = Sample(
            isSet: true,
            count: -1,
            name: "a",
            words: [""],
            needs: Needs(power: true),
            span: .seconds(1)
        )
        let value: Value = .map([
            "isSet": .bool(true), "count": .integer(-1), "name": .string("a"),
            "words": .list([.string("")]), "needs": .map(["power": .bool(true)]),
            "span": .integer(1_000_000_000),
        ])
        #expect(try ValueEncoder().encode(sample) == value)
        #expect(try ValueDecoder().decode(Sample.self, from: value) == sample)
    }

    @Test func `what older programs wrote is read`() throws {
        let value: Value = .map([
            "isSet": .bool(false), "count": .integer(0),
            "needs": .map([
                "power": .bool(false), "network": .bool(true), "unmetered": .bool(false),
                "unlocked": .bool(false),
            ]),
        ])
        let sample = try ValueDecoder().decode(Sample.self, from: value)
        #expect(sample == Sample(needs: Needs(network: true)))
    }

    @Test func `a field of another kind is refused by name`() {
        #expect(throws: ValueError.self) {
            try ValueDecoder().decode(Sample.self, from: .map(["count": .string("1")]))
        }
    }
}
