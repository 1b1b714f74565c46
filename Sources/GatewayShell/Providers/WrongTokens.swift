/// The tokens on one connection whose signatures were found wrong.
struct WrongTokens {
    private var last: [UInt8] = []
    /// Of the keys among which there was none for it.
    private var generation = 0
    private var count = 0

    /// An honest sender has one wrong token at a time.
    private static let limit = 10

    var areTooMany: Bool { count >= Self.limit }

    func contains(_ field: ArraySlice<UInt8>, _ generation: Int) -> Bool {
        areTooMany || count > 0 && generation == self.generation && last[...].isSame(as: field)
    }

    mutating func add(_ field: ArraySlice<UInt8>, _ generation: Int) {
        last = Array(field)
        self.generation = generation
        count += 1
    }
}
