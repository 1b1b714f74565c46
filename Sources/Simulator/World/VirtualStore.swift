package import DeviceCore
import Vocabulary

/// A store that keeps what was committed, and nothing else.
package struct VirtualStore {
    private var records: [(key: RecordKey, record: Record)] = []
    package private(set) var lineCount = 0
    /// As it was before what a loss of power may take; nil: nothing.
    private var synced: [(key: RecordKey, record: Record)]?

    package init() {}

    /// What was not synced is gone.
    mutating func losePower() {
        if let synced { records = synced }
        synced = nil
    }

    /// All or none: the caller decides which.
    mutating func apply(_ changes: [Change], _ durability: Durability) {
        switch durability {
        case .kill: synced = synced ?? records
        case .powerLoss: synced = nil
        }
        for change in changes {
            switch change {
            case .put(let record):
                let key = record.key
                let (place, isThere) = place(of: key)
                if isThere {
                    records[place].record = record
                } else {
                    records.insert((key, record), at: place)
                }
            case .delete(let key):
                let (place, isThere) = place(of: key)
                if isThere { records.remove(at: place) }
            case .append:
                lineCount += 1
            }
        }
    }

    /// What a starting daemon reads, through the form in which it is kept.
    package func load() throws(RecordError) -> [Record] {
        var loaded: [Record] = []
        loaded.reserveCapacity(records.count)
        for (key, record) in records { loaded.append(try Record(key, record.value)) }
        return loaded
    }

    /// The launches that it knows.
    var launches: [LaunchID] {
        records.compactMap {
            if case .launch(let record) = $0.record { record.id } else { nil }
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
