import Vocabulary

/// Tasks that wait for their app, in the order of the numbers of their ends, or of their questions.
/// Adding a last one and taking the first takes constant time, and that is what happens mostly;
/// any other is found by halving.
struct TaskQueue: Hashable, Sendable, Codable {
    private var entries: [Entry] = []
    /// Those before it are gone.
    private var start = 0

    struct Entry: Hashable, Sendable, Codable, Comparable {
        let id: TransferID
        /// Of its end, or of its question.
        let number: UInt64

        static func < (left: Self, right: Self) -> Bool {
            (left.number, left.id) < (right.number, right.id)
        }
    }

    var all: ArraySlice<Entry> { entries[start...] }
    var count: Int { entries.count - start }
    var isEmpty: Bool { start == entries.count }
    var first: Entry? { isEmpty ? nil : entries[start] }
    var last: Entry? { isEmpty ? nil : entries[entries.count - 1] }

    /// A task has another number. Nil: it does not wait.
    mutating func change(_ id: TransferID, from old: UInt64?, to new: UInt64?) {
        guard old != new else { return }
        if let old { remove(Entry(id: id, number: old)) }
        if let new { insert(Entry(id: id, number: new)) }
    }

    /// Nearly always at the end; records are restored in any order.
    private mutating func insert(_ entry: Entry) {
        entries.insert(entry, at: position(of: entry))
    }

    private mutating func remove(_ entry: Entry) {
        let index = position(of: entry)
        guard index < entries.count, entries[index] == entry else { return }
        if index == start { start += 1 } else { entries.remove(at: index) }
        guard start * 2 > entries.count else { return }
        entries.removeFirst(start)
        start = 0
    }

    /// Of the first that does not come before it.
    private func position(of entry: Entry) -> Int {
        if let last, last < entry { return entries.count }
        var (low, high) = (start, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle] < entry { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
