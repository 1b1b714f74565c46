/// Keys with values, always in the order of the keys' UTF-8 bytes, whatever order they came in.
package struct ValueMap: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let key: String
        package var value: Value

        package init(key: String, value: Value) { (self.key, self.value) = (key, value) }

        package static func == (left: Entry, right: Entry) -> Bool {
            left.key.hasSameBytes(as: right.key) && left.value == right.value
        }
    }

    /// Ascending by key, no key twice.
    package private(set) var entries: [Entry]

    package init() { entries = [] }

    /// A key given twice has its last value.
    package init(_ pairs: some Sequence<(String, Value)>) {
        self.init(unsorted: pairs.map { Entry(key: $0.0, value: $0.1) })
    }

    /// A key given twice has its last value.
    init(unsorted: [Entry]) {
        entries = []
        entries.reserveCapacity(unsorted.count)
        // Few go in one by one; many are sorted first, so that each then goes to the end. The sort
        // is stable: of equal keys the last one stays the last.
        if unsorted.count <= 32 {
            for entry in unsorted { set(entry.key, to: entry.value) }
        } else {
            let sorted = unsorted.sorted { $0.key.bytesPrecede($1.key) }
            for entry in sorted { set(entry.key, to: entry.value) }
        }
    }

    package var keys: [String] { entries.map(\.key) }

    /// The value of `key`; setting nil removes it.
    package subscript(key: String) -> Value? {
        get {
            let (index, found) = position(of: key)
            return found ? entries[index].value : nil
        }
        set {
            if let newValue { return set(key, to: newValue) }
            let (index, found) = position(of: key)
            if found { entries.remove(at: index) }
        }
    }

    /// Fastest for keys in rising order.
    package mutating func set(_ key: String, to value: Value) {
        var high = entries.count
        if high > 0 {
            switch entries[high - 1].key.compareBytes(to: key) {
            case .before: break
            case .same: return entries[high - 1].value = value
            case .after: high -= 1
            }
        }
        guard high < entries.count else {
            return entries.append(Entry(key: key, value: value))
        }
        let (index, found) = position(of: key, below: high)
        if found {
            entries[index].value = value
        } else {
            entries.insert(Entry(key: key, value: value), at: index)
        }
    }

    package mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    /// Takes everything out, and keeps the room for as much again.
    mutating func takeEntries() -> ValueMap {
        var taken = ValueMap()
        taken.entries.reserveCapacity(entries.count)
        taken.entries.append(contentsOf: entries)
        entries.removeAll(keepingCapacity: true)
        return taken
    }

    /// Where `key` is, or where it would have to be inserted.
    private func position(of key: String, below end: Int? = nil) -> (index: Int, found: Bool) {
        var (low, high) = (0, end ?? entries.count)
        while low < high {
            let middle = (low + high) / 2
            switch entries[middle].key.compareBytes(to: key) {
            case .same: return (middle, true)
            case .before: low = middle + 1
            case .after: high = middle
            }
        }
        return (low, false)
    }
}

extension ValueMap: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { entries.count }
    package subscript(position: Int) -> Entry { entries[position] }
}

extension ValueMap: ExpressibleByDictionaryLiteral {
    /// A key given twice has its last value.
    package init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }
}
