/// Something about each of the addresses that were noted lately. Of a bounded number of them: those
/// that were not noted for longest are forgotten, half of all at a time.
struct RecentGroups<Value: Sendable>: Sendable {
    private let limit: Int
    private var newer: [AddressGroup: Value] = [:]
    private var older: [AddressGroup: Value] = [:]

    init(atMost limit: Int) { self.limit = max(2, limit) }

    var isEmpty: Bool { newer.isEmpty && older.isEmpty }

    func contains(_ group: AddressGroup) -> Bool { newer[group] != nil || older[group] != nil }

    subscript(group: AddressGroup) -> Value? { newer[group] ?? older[group] }

    mutating func set(_ group: AddressGroup, _ value: Value) {
        if newer[group] == nil, newer.count >= limit / 2 { (older, newer) = (newer, [:]) }
        newer[group] = value
    }
}
