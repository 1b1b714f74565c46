package import Vocabulary

/// Which version of the draft servers have spoken, so that it is offered at once the next time.
package struct InteropMemory: Hashable, Sendable {
    /// The latest first.
    private var known: [Known] = []
    private static let most = 64

    private struct Known: Hashable, Sendable {
        let origin: Origin
        let interop: UploadInterop
    }

    package init() {}

    package mutating func learn(_ resource: UploadResource) {
        guard let origin = Origin(resource.url) else { return }
        known.removeAll { $0.origin == origin }
        known.insert(Known(origin: origin, interop: resource.interop), at: 0)
        if known.count > Self.most { known.removeLast() }
    }

    package func applied(to order: UploadOrder) -> UploadOrder {
        guard order.resource == nil, let origin = Origin(order.url),
            let known = known.first(where: { $0.origin == origin })
        else { return order }
        var order = order
        order.interop = known.interop
        return order
    }
}
