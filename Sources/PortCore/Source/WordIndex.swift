/// The words of a source that matter: keywords, and the names in the table of symbols. A lexer
/// finds each name here, so it is a table of hashes, and no name becomes a string.
struct WordIndex: Sendable {
    private let words: [[UInt8]]
    /// By hash, open addressing: one more than the place in `words`; 0 is free.
    private let slots: [Int32]
    /// How many words at the beginning are keywords behind which an operand may stand.
    private let operandCount: Int

    /// `operands`: those keywords.
    init(operands: [String], others: [String]) {
        words = (operands + others).map { Array($0.utf8) }
        operandCount = operands.count
        var size = 64
        while size < words.count * 4 { size *= 2 }
        var slots = [Int32](repeating: 0, count: size)
        for (place, word) in words.enumerated() {
            var slot = Int(word.reduce(Self.seed) { Self.add($1, to: $0) }) & (size - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (size - 1) }
            slots[slot] = Int32(place + 1)
        }
        self.slots = slots
    }

    static let seed: UInt32 = 0x811C_9DC5

    @inline(__always)
    static func add(_ byte: UInt8, to hash: UInt32) -> UInt32 {
        (hash ^ UInt32(byte)) &* 0x0100_0193
    }

    /// The place of a word among operands and others; -1 if it is none.
    func find(_ hash: UInt32, _ bytes: [UInt8], _ range: Range<Int>) -> Int {
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 {
            let place = Int(slots[slot]) - 1
            if Self.isSame(words[place], bytes, range) { return place }
            slot = (slot + 1) & mask
        }
        return -1
    }

    private static func isSame(
        _ word: [UInt8],
        _ bytes: [UInt8],
        _ range: Range<Int>
    ) -> Bool {
        guard word.count == range.count else { return false }
        for offset in 0..<word.count where word[offset] != bytes[range.lowerBound + offset] {
            return false
        }
        return true
    }

    func expectsOperand(_ place: Int) -> Bool { place >= 0 && place < operandCount }
}
