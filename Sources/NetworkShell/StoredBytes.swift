/// How much of a file the daemon has stored of what it was told is durable.
struct StoredBytes {
    private(set) var count: Int64
    /// What it was told and has not answered: bytes from the file's start, and all of them.
    private var told: [(durable: Int64, count: Int64)] = []

    init(_ count: Int64) { self.count = count }

    mutating func tell(durable: Int64, count: Int64) {
        if count > self.count { told.append((durable, count)) }
    }

    /// The first of what it was told with that number is what it must have stored.
    mutating func answered(durable: Int64) {
        guard let index = told.firstIndex(where: { $0.durable == durable }) else { return }
        count = max(count, told[index].count)
        told.removeFirst(index + 1)
    }
}
