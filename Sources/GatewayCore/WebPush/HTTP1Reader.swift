/// Requests of HTTP/1.1, cut out of what comes: libraries of Web Push speak nothing newer. Only
/// as much of it as they need, and one spelling only, so that nobody before us reads another
/// request than we do.
package struct HTTP1Reader: Sendable {
    package struct Request: Equatable, Sendable {
        package struct Field: Equatable, Sendable {
            /// In small letters.
            package var name: [UInt8]
            package var value: [UInt8]
        }

        package var method: [UInt8]
        package var path: [UInt8]
        package var fields: [Field] = []
        package var body: [UInt8] = []
        /// The body is longer than is taken; nothing follows.
        package var isCutOff = false
        /// Another request may follow.
        package var keepsAlive = true
    }

    package enum Step: Equatable, Sendable {
        /// The sender waits for a word (100) before it sends the body.
        case goOn
        case request(Request)
    }

    /// The most bytes of a head.
    package static let headLimit = 8000
    /// The longest body that is read although it is not taken.
    package static let skipLimit = 1 << 20
    private let bodyLimit: Int
    private var bytes: [UInt8] = []
    private var head: (request: Request, length: Int, expects: Bool)?
    private var isOver = false
    /// As far as there is no end of a head.
    private var looked = 0
    /// Of a body that is too long.
    private var skipped = 0

    package init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

    /// Nothing of a request has come.
    package var isIdle: Bool { head == nil && bytes.isEmpty }
    package var pendingCount: Int { bytes.count }

    package mutating func append(_ more: some Sequence<UInt8>) {
        if !isOver { bytes += more }
    }

    /// What is complete; nil: more must come. After an error there is nothing more to be read.
    package mutating func next() throws(WebPushReason) -> Step? {
        guard !isOver else { return nil }
        do throws(WebPushReason) {
            return try step()
        } catch {
            (isOver, bytes) = (true, [])
            throw error
        }
    }

    private mutating func step() throws(WebPushReason) -> Step? {
        if head == nil {
            guard let end = Self.end(of: bytes, from: looked) else {
                looked = max(0, bytes.count - 3)
                guard bytes.count <= Self.headLimit else { throw .headersTooLarge }
                return nil
            }
            guard end <= Self.headLimit else { throw .headersTooLarge }
            head = try Self.parse(bytes[..<end], bodyLimit: bodyLimit)
            bytes.removeFirst(end + 4)
            looked = 0
        }
        guard let (found, length, expects) = head else { return nil }
        var request = found
        if length > bodyLimit {
            request.isCutOff = true
            return skip(&request, length, expects)
        }
        guard bytes.count >= length else {
            guard expects, bytes.isEmpty else { return nil }
            head = (request, length, false)
            return .goOn
        }
        request.body = Array(bytes.prefix(length))
        bytes.removeFirst(length)
        head = nil
        if !request.keepsAlive { (isOver, bytes) = (true, []) }
        return .request(request)
    }

    /// A body that is too long is read to its end, or its sender would not hear the answer; one
    /// that waits for a word, or has no measure, is not waited for.
    private mutating func skip(
        _ request: inout Request,
        _ length: Int,
        _ expects: Bool
    ) -> Step? {
        guard length <= Self.skipLimit, !expects else {
            request.keepsAlive = false
            (isOver, bytes, head) = (true, [], nil)
            return .request(request)
        }
        let count = min(bytes.count, length - skipped)
        bytes.removeFirst(count)
        skipped += count
        guard skipped == length else { return nil }
        (skipped, head) = (0, nil)
        if !request.keepsAlive { (isOver, bytes) = (true, []) }
        return .request(request)
    }

    /// Where the empty line begins that ends a head.
    private static func end(of bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index + 3 < bytes.count {
            if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13,
                bytes[index + 3] == 10
            {
                return index
            }
            index += 1
        }
        return nil
    }

    // MARK: Head

    private static func parse(
        _ head: ArraySlice<UInt8>,
        bodyLimit: Int
    ) throws(WebPushReason) -> (Request, Int, Bool) {
        var lines = try lines(of: head)[...]
        guard let first = lines.popFirst() else { throw .badRequest }
        let words = first.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(isTokenByte),
            words[1].first == UInt8(ascii: "/"), words[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw .badRequest }
        let isOlder = words[2].elementsEqual("HTTP/1.0".utf8)
        guard isOlder || words[2].elementsEqual("HTTP/1.1".utf8) else {
            throw words[2].starts(with: "HTTP/".utf8) ? .versionNotSupported : .badRequest
        }
        var request = Request(method: Array(words[0]), path: Array(words[1]))
        request.keepsAlive = !isOlder
        for line in lines { request.fields.append(try field(line)) }
        let (length, expects) = try framing(&request, isOlder)
        return (request, length, expects)
    }

    /// Cut at CR LF; neither stands alone.
    private static func lines(
        of head: ArraySlice<UInt8>
    ) throws(WebPushReason) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = head.startIndex
        var index = start
        while index < head.endIndex {
            if head[index] == 13, index + 1 < head.endIndex, head[index + 1] == 10 {
                lines.append(head[start..<index])
                index += 2
                start = index
                continue
            }
            guard head[index] != 13, head[index] != 10 else { throw .badRequest }
            index += 1
        }
        return lines + [head[start...]]
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(WebPushReason) -> Request.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(isTokenByte)
        else { throw .badRequest }
        var value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .badRequest
        }
        return Request.Field(name: line[..<colon].map(lowered), value: Array(value))
    }

    /// How long the body is, and whether its sender waits for a word.
    private static func framing(
        _ request: inout Request,
        _ isOlder: Bool
    ) throws(WebPushReason) -> (length: Int, expects: Bool) {
        var length: Int?
        var hosts = 0
        var expects = false
        for field in request.fields {
            if field.name.elementsEqual("content-length".utf8) {
                guard length == nil, let number = PushRequest.number(field.value) else {
                    throw .badRequest
                }
                length = Int(number)
            } else if field.name.elementsEqual("transfer-encoding".utf8) {
                throw .lengthRequired
            } else if field.name.elementsEqual("host".utf8) {
                hosts += 1
            } else if field.name.elementsEqual("expect".utf8) {
                expects = field.value.map(lowered).elementsEqual("100-continue".utf8) && !isOlder
            } else if field.name.elementsEqual("connection".utf8) {
                let words = field.value.map(lowered).split { $0 == 0x2C || $0 == 0x20 }
                if words.contains(where: { $0.elementsEqual("close".utf8) }) {
                    request.keepsAlive = false
                }
            }
        }
        guard hosts == 1 || hosts == 0 && isOlder else { throw .badRequest }
        return (length ?? 0, expects)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch lowered(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
