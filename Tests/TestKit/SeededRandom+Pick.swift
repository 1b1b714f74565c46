package import Vocabulary

extension SeededRandom {
    /// One element of `list`; nil when it is empty.
    package mutating func pick<Element>(from list: [Element]) -> Element? {
        list.isEmpty ? nil : list[below(list.count)]
    }
}
