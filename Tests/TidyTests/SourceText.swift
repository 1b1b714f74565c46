/// Text as bytes, with the questions that the rules ask of it.
struct SourceText {
    let bytes: [UInt8]
    /// Where each line begins.
    private let lineStarts: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        lineStarts =
            [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    }

    /// Counted from 1.
    func line(of offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// Where `word` stands; as a whole word at those ends where it has letters.
    func places(of word: String) -> [Int] {
        let wanted = Array(word.utf8)
        guard let first = wanted.first, let last = wanted.last else { return [] }
        var found: [Int] = []
        var at = 0
        while at + wanted.count <= bytes.count {
            defer { at += 1 }
            guard bytes[at] == first, bytes[at...].starts(with: wanted) else { continue }
            let end = at + wanted.count
            if isWord(first), at > 0, isWord(bytes[at - 1]) { continue }
            if isWord(last), end < bytes.count, isWord(bytes[end]) { continue }
            found.append(at)
        }
        return found
    }

    /// Where the bracket that opens at `offset` closes.
    func closing(_ offset: Int) -> Int? {
        var depth = 0
        for at in offset..<bytes.count {
            if Self.opening.contains(bytes[at]) { depth += 1 }
            if Self.closing.contains(bytes[at]) {
                depth -= 1
                if depth == 0 { return at }
            }
        }
        return nil
    }

    /// The text of a line, counted from 1; empty when there is none.
    func text(line: Int) -> String {
        guard line >= 1, line <= lineStarts.count else { return "" }
        let start = lineStarts[line - 1]
        let end = line < lineStarts.count ? lineStarts[line] - 1 : bytes.count
        return String(decoding: bytes[start..<max(start, end)], as: UTF8.self)
    }

    var lineCount: Int { lineStarts.count - (bytes.last == UInt8(ascii: "\n") ? 1 : 0) }

    static let opening = Array("([{".utf8)
    static let closing = Array(")]}".utf8)
}

/// Whether a byte can be part of a name; all of a non-ASCII character is.
func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
        true
    default: false
    }
}

func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") }
