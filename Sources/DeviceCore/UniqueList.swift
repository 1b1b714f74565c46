/// A list without duplicates, in order of insertion. Appending takes constant time.
struct UniqueList<Element: Hashable & Sendable & Codable>: Sendable {
    private(set) var elements: [Element] = []
    /// The same elements, filled once a linear search would take longer.
    private var known: Set<Element> = []

    private static var few: Int { 16 }

    init() {}

    /// `elements` must not contain duplicates.
    init(_ elements: [Element]) { self.elements = elements }

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) {
        if elements.count < Self.few {
            guard !elements.contains(element) else { return }
        } else {
            if known.count < elements.count { known.formUnion(elements) }
            guard known.insert(element).inserted else { return }
        }
        elements.append(element)
    }

    mutating func removeAll() {
        elements.removeAll(keepingCapacity: true)
        if !known.isEmpty { known.removeAll() }
    }
}

extension UniqueList: Hashable, Codable {
    static func == (left: Self, right: Self) -> Bool { left.elements == right.elements }

    func hash(into hasher: inout Hasher) { hasher.combine(elements) }

    init(from decoder: any Decoder) throws { self.init(try [Element](from: decoder)) }

    func encode(to encoder: any Encoder) throws { try elements.encode(to: encoder) }
}
