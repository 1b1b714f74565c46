import ExchangeCore
import Vocabulary
import Wire

/// The head of an answer, line by line as libcurl hands it on. Interim answers come before it, and
/// trailers after it.
struct AnswerHead {
    private(set) var head = Exchange.Head(status: 0, fields: [], length: nil)
    private var isOver = false
    private var bytes = 0
    /// The last interim answer, until it is taken.
    private var interim: Exchange.Head?
    private var interims = 0
    /// Interim answers tell of progress, but not for ever.
    private static let mostInterims = 100_000

    /// It leads elsewhere, and its body is of no interest.
    private(set) var isRedirect = false

    /// True: the head is complete.
    mutating func add(_ line: String) throws(ExchangeFailure) -> Bool {
        bytes += line.utf8.count
        guard bytes <= NetworkFormat.headerBytes, head.fields.count < NetworkFormat.mostHeaders
        else { throw ExchangeFailure(.badAnswer, reason: "the answer has too many header fields") }
        // A trailer.
        if isOver { return false }
        if line.isEmpty { return try end() }
        if head.status == 0, line.hasPrefix("HTTP/") {
            let words = line.split(separator: " ")
            guard words.count >= 2, let status = Int(words[1]), (100...999).contains(status) else {
                throw ExchangeFailure(.badAnswer, reason: "the answer has no status")
            }
            head.status = status
            return false
        }
        if let field = HTTPField(line: line) { head.fields.append(field) }
        return false
    }

    mutating func takeInterim() -> Exchange.Head? {
        defer { interim = nil }
        return interim
    }

    private mutating func end() throws(ExchangeFailure) -> Bool {
        guard head.status >= 200 else {
            // 100 Continue and the like: the answer follows.
            interim = head
            (interims, bytes) = (interims + 1, interims < Self.mostInterims ? 0 : bytes)
            head = Exchange.Head(status: 0, fields: [], length: nil)
            return false
        }
        isOver = true
        let isChunked = head.fields.value(of: "Transfer-Encoding") != nil
        head.length = isChunked ? nil : try length()
        isRedirect =
            [301, 302, 303, 307, 308].contains(head.status)
            && head.fields.value(of: "Location") != nil
        return true
    }

    /// Of the body. Two that differ leave open where the next answer begins.
    private func length() throws(ExchangeFailure) -> Int64? {
        let texts = head.fields.values(of: "Content-Length")
        guard let text = texts.first else { return nil }
        guard let length = Int64(text), (0...1 << 60).contains(length),
            texts.allSatisfy({ $0 == text })
        else { throw ExchangeFailure(.badAnswer, reason: "the answer has no possible length") }
        return length
    }
}
