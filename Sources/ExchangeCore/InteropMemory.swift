package import Vocabulary

/// Which version of the draft servers have spoken, so that it is offered at once the next time.
package struct InteropMemory: Hashable, Sendable {
    /// The latest first.
    private var known: [Known] = []
    private static let most = 64
    /// What the daemon orders unless an attempt with it has failed.
    private static let first = UploadInterop.eight

    private struct Known: Hashable, Sendable {
        let origin: Origin
        let interop: UploadInterop
        /// False: the server has spoken it once, and did not the last time.
        var isSpoken = true
    }

    package init() {}

    package mutating func learn(_ resource: UploadResource) {
        guard let origin = Origin(resource.url) else { return }
        known.removeAll { $0.origin == origin }
        known.insert(Known(origin: origin, interop: resource.interop), at: 0)
        if known.count > Self.most { known.removeLast() }
    }

    /// The server has had bytes of this upload, as it was `applied`, and has made nothing for it.
    package mutating func unlearn(_ order: UploadOrder) {
        guard order.resource == nil, let origin = Origin(order.url),
            let index = known.firstIndex(where: { $0.origin == origin })
        else { return }
        if !known[index].isSpoken {
            known.remove(at: index)
        } else if known[index].interop == order.interop {
            known[index].isSpoken = false
        }
    }

    package func applied(to order: UploadOrder) -> UploadOrder {
        guard order.resource == nil, let origin = Origin(order.url),
            let known = known.first(where: { $0.origin == origin })
        else { return order }
        var order = order
        if known.isSpoken {
            // What the daemon orders after a failure is newer than what is known here.
            if order.interop == Self.first { order.interop = known.interop }
        } else if order.interop != Self.first, order.interop == known.interop {
            // The daemon does not know that this was offered in place of its first order.
            order.interop = known.interop.other
        }
        return order
    }
}
