import Glibc

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
        while let next = next(first, from: at) {
            at = next + 1
            let end = next + wanted.count
            guard end <= bytes.count, memcmp(bytes, wanted, at: next) else { continue }
            if isWord(first), next > 0, isWord(bytes[next - 1]) { continue }
            if isWord(last), end < bytes.count, isWord(bytes[end]) { continue }
            found.append(next)
        }
        return found
    }

    /// Where `byte` stands next; the library's search, because tests are not optimised.
    private func next(_ byte: UInt8, from start: Int) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard start < buffer.count, let base = buffer.baseAddress else { return nil }
            let found = memchr(base + start, Int32(byte), buffer.count - start)
            return found.map { UnsafeRawPointer($0) - base }
        }
    }

    private func memcmp(_ bytes: [UInt8], _ part: [UInt8], at start: Int) -> Bool {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return false }
            return Glibc.memcmp(base + start, part, part.count) == 0
        }
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
