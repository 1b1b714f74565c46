package import DeviceCore
import Vocabulary

/// A store that keeps what was committed, and nothing else.
package struct VirtualStore {
    private struct Entry {
        let key: RecordKey
        var record: Record
        /// As a daemon read it back; nil: none has, since it was written.
        var asRead: Record?
    }

    private var records: [Entry] = []
    package private(set) var lineCount = 0
    /// As it was before what a loss of power may take; nil: nothing.
    private var synced: [Entry]?

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
                let (index, isThere) = index(of: key)
                if isThere {
                    records[index] = Entry(key: key, record: record)
                } else {
                    records.insert(Entry(key: key, record: record), at: index)
                }
            case .delete(let key):
                let (index, isThere) = index(of: key)
                if isThere { records.remove(at: index) }
            case .append:
                lineCount += 1
            }
        }
    }

    /// Whatever it had, it holds these now.
    mutating func replace(with all: [Record]) {
        records = all.map { Entry(key: $0.key, record: $0) }.sorted { $0.key < $1.key }
        synced = nil
    }

    /// What a starting daemon reads, through the form in which it is kept.
    package mutating func load() throws(RecordError) -> [Record] {
        var loaded: [Record] = []
        loaded.reserveCapacity(records.count)
        for index in records.indices {
            let entry = records[index]
            if let record = entry.asRead {
                loaded.append(record)
                continue
            }
            let record = try Record(entry.key, entry.record.value)
            records[index].asRead = record
            loaded.append(record)
        }
        return loaded
    }

    /// The launches that it knows.
    var launches: [LaunchID] {
        records.compactMap {
            if case .launch(let record) = $0.record { record.id } else { nil }
        }
    }

    package func contains(_ key: RecordKey) -> Bool { index(of: key).isThere }

    private func index(of key: RecordKey) -> (Int, isThere: Bool) {
        var low = 0
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            if records[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return (low, low < records.count && records[low].key == key)
    }
}
