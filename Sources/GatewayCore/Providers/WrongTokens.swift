/// The tokens on one connection whose signatures were found wrong. To find that costs more than all
/// else about a request.
struct WrongTokens: Sendable {
    private var last: [UInt8] = []
    /// Of the keys among which there was none for it.
    private var generation = 0
    private var count = 0

    /// An honest sender has one wrong token at a time.
    static let limit = 10

    /// No other token on this connection is looked at.
    var areTooMany: Bool { count >= Self.limit }

    /// Whether a token is not worth looking at: it is the last wrong one, or there were too many.
    func contains(_ field: ArraySlice<UInt8>, _ generation: Int) -> Bool {
        areTooMany || count > 0 && generation == self.generation && last[...] == field
    }

    mutating func add(_ field: ArraySlice<UInt8>, _ generation: Int) {
        last = Array(field)
        self.generation = generation
        count += 1
    }
}
