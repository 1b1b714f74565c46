// What OrderTests must find. Never called.

func unorderedSample(_ counts: [String: Int], _ names: Set<String>, _ encoder: any Encoder) throws {
    for (name, count) in counts { unorderedSink(name, count) }
    for name in names { unorderedSink(name, 0) }
    _ = Array(counts)
    _ = names.sorted()
    _ = counts.map { $0.value }
    _ = counts.first
    _ = names.map { $0 }
    _ = names.first
    _ = counts.keys.first
    _ = counts.values.first
    try counts.encode(to: encoder)
    try names.encode(to: encoder)
}

func unorderedSink(_ name: String, _ count: Int) {}
