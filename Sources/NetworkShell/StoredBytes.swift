/// How many durable bytes of a file the daemon has stored.
struct StoredBytes {
    private(set) var count: Int64
    /// Progress that it has not confirmed: durable bytes from the file's start, and in all.
    private var told: [(durable: Int64, count: Int64)] = []

    init(_ count: Int64) { self.count = count }

    mutating func tell(durable: Int64, count: Int64) {
        if count > self.count { told.append((durable, count)) }
    }

    /// Several reports may have the same `durable`; the first of them is surely stored.
    mutating func answered(durable: Int64) {
        guard let index = told.firstIndex(where: { $0.durable == durable }) else { return }
        count = max(count, told[index].count)
        told.removeFirst(index + 1)
    }
}
