import GatewayCore

/// What became of the pushes of one provider key.
final class KeyCounters {
    var accepted: UInt64 = 0
    var refused: UInt64 = 0
}

extension ProviderConnection {
    /// Of the key that signed the token of the last push; nil: it came without one.
    var keyCounters: KeyCounters? { sender.isSigned ? lastToken?.counters : nil }
}
