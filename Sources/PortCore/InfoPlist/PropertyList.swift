package import Vocabulary

/// A property list, as the values that a manifest can be made of: dates and data stay text.
package struct PropertyList: Equatable, Sendable {
    package let root: Value
    /// Keys and strings of the XML form with their lines, in order; the binary form has none.
    private(set) var lines: [Place] = []

    struct Place: Equatable, Sendable {
        var text: String
        var line: Int
        var isKey = false
    }

    /// What is wrong with one.
    package struct Mistake: Error, Equatable {
        package var reason: String
        /// Counted from 1; nil where there are no lines.
        package var line: Int?
    }

    /// How deep lists and maps may hold one another.
    static let depthLimit = 32
    /// How many values there may be.
    static let countLimit = 100_000
    /// How many bytes its strings may have: in the binary form many values may share one.
    static let byteLimit = 16 << 20

    init(root: Value, lines: [Place] = []) { (self.root, self.lines) = (root, lines) }

    /// Reads either form.
    package static func read(_ bytes: [UInt8]) throws(Mistake) -> PropertyList {
        if bytes.starts(with: BinaryPropertyList.magic) {
            return PropertyList(root: try BinaryPropertyList.read(bytes))
        }
        if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
            throw Mistake(reason: "it is UTF-16; write it as UTF-8")
        }
        return try XMLPropertyList.read(bytes)
    }

    /// By each string behind the key, its first line there.
    func lines(behind key: String) -> [String: Int] {
        guard let start = lines.firstIndex(where: { $0.isKey && $0.text == key }) else {
            return [:]
        }
        let strings = lines[start...].filter { !$0.isKey }.map { ($0.text, $0.line) }
        return Dictionary(strings) { first, _ in first }
    }
}
