package import DeviceCore
import Vocabulary

/// A store that keeps what was committed, and nothing else.
package struct VirtualStore {
    private struct Entry {
        let key: RecordKey
        var record: Record
        /// It is as a daemon reads it.
        var wasRead = false
    }

    private var records: [Entry] = []
    private var loads = 0
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

    /// What a starting daemon reads. Of launches not all is kept; each goes through the form in
    /// which it is. Other records come back as they were: every tenth start shows it.
    package mutating func load() throws(SimulatorError) -> [Record] {
        loads += 1
        var loaded: [Record] = []
        loaded.reserveCapacity(records.count)
        for index in records.indices {
            let entry = records[index]
            let isLaunch = entry.key.section == .launch
            if !entry.wasRead, isLaunch || loads % 10 == 1 {
                let record = try read(entry)
                guard isLaunch || record == entry.record else {
                    throw SimulatorError("\(entry.record) is read as \(record)")
                }
                records[index].record = record
                records[index].wasRead = true
            }
            loaded.append(records[index].record)
        }
        return loaded
    }

    private func read(_ entry: Entry) throws(SimulatorError) -> Record {
        do {
            return try Record(entry.key, entry.record.value)
        } catch {
            throw SimulatorError("\(error)")
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

/// What the virtual store does not give back as it took it.
package struct SimulatorError: Error, Equatable {
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}
