/// Guesses what a misspelt word was meant to be.
package enum Spelling {
    /// The candidate nearest to `word`, the first of equally near ones; nil when none is near:
    /// one slip for every three letters, at least one. Case does not count.
    package static func suggestion(for word: String, among candidates: [String]) -> String? {
        let letters = folded(word)
        guard letters.count <= 64 else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let other = folded(candidate)
            let limit = max(1, max(letters.count, other.count) / 3)
            // A word so much longer or shorter is as far away at least.
            guard abs(letters.count - other.count) <= limit else { continue }
            let distance = distance(letters, other)
            guard distance <= limit else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// `Did you mean NAME?`, or `otherwise`.
    static func hint(for word: String, among candidates: [String], otherwise: String) -> String {
        suggestion(for: word, among: candidates).map { "Did you mean \($0)?" } ?? otherwise
    }

    private static func folded(_ word: String) -> [UInt8] {
        word.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Letters to insert, remove, replace or swap with their neighbour.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let same = left[row] == right[column]
                var least = last[column] + (same ? 0 : 1)
                least = min(least, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
