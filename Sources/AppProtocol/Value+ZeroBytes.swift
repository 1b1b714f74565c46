package import Vocabulary

extension Value {
    /// As D-Bus carries it. Its text has no zero byte, so U+FFFD takes the place of one, as it does
    /// of every other byte that is no text: a message is not lost for a byte in it.
    package var withoutZeroBytes: Value {
        guard hasZeroByte else { return self }
        switch self {
        case .null, .bool, .integer, .double, .bytes: return self
        case .string(let text): return .string(text.withoutZeroBytes)
        case .list(let list): return .list(list.map(\.withoutZeroBytes))
        case .map(let map):
            var whole = ValueMap()
            for entry in map.entries {
                whole[entry.key.withoutZeroBytes] = entry.value.withoutZeroBytes
            }
            return .map(whole)
        }
    }

    private var hasZeroByte: Bool {
        switch self {
        case .null, .bool, .integer, .double, .bytes: false
        case .string(let text): text.hasZeroByte
        case .list(let list): list.contains(where: \.hasZeroByte)
        case .map(let map):
            map.entries.contains { $0.key.hasZeroByte || $0.value.hasZeroByte }
        }
    }
}

extension String {
    fileprivate var withoutZeroBytes: String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars { text.append(scalar.value == 0 ? "\u{FFFD}" : scalar) }
        return String(text)
    }
}

extension CallReply {
    /// The values as they are sent.
    package var sent: [Value] {
        get throws(ValueError) { try values.map(\.withoutZeroBytes) }
    }
}

extension AppReply {
    /// The same to an app.
    package var sent: [Value] {
        get throws(ValueError) { try values.map(\.withoutZeroBytes) }
    }
}
