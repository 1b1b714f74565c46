package import DeviceCore
package import Vocabulary

/// A store that keeps what was committed, and nothing else.
package struct VirtualStore {
    package private(set) var records: [(key: RecordKey, value: Value)] = []
    package private(set) var lineCount = 0

    package init() {}

    /// All or none: the caller decides which.
    mutating func apply(_ changes: [Change]) {
        for change in changes {
            switch change {
            case .put(let key, let value):
                let (place, isThere) = place(of: key)
                if isThere {
                    records[place].value = value
                } else {
                    records.insert((key, value), at: place)
                }
            case .delete(let key):
                let (place, isThere) = place(of: key)
                if isThere { records.remove(at: place) }
            case .append:
                lineCount += 1
            }
        }
    }

    package func contains(_ key: RecordKey) -> Bool { place(of: key).isThere }

    private func place(of key: RecordKey) -> (Int, isThere: Bool) {
        var low = 0
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            if records[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return (low, low < records.count && records[low].key == key)
    }
}
