/// A collapse identifier by its hash (FNV-1a): what is kept of it for each stored push.
///
/// Two identifiers with the same hash collapse into each other. Only providers of the same app can
/// cause that.
package struct CollapseKey: Equatable, Sendable {
    private let hash: UInt64

    /// Of a push without an identifier: it collapses with nothing.
    package static let none = CollapseKey([])

    /// A topic of Web Push is no collapse identifier of APNs, though it reads the same.
    package init(_ identifier: some Collection<UInt8>, isWebPush: Bool = false) {
        guard !identifier.isEmpty else {
            hash = 0
            return
        }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        if isWebPush { hash = ~hash }
        for byte in identifier { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        self.hash = max(1, hash)
    }

    /// Whether a push with one replaces one with the other.
    func collapses(with other: CollapseKey) -> Bool { hash != 0 && hash == other.hash }
}
