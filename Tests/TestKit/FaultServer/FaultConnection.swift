import Glibc
import Linux
import Synchronization

/// One connection of a fault server, on a thread of its own.
final class FaultConnection {
    let socket: Int32
    let state: FaultState
    private let stream: any FaultStream
    /// Read, and not yet looked at.
    var input: [UInt8] = []
    /// It is HTTP/2, and ends early.
    private var goesAway: (path: String, count: Int64)?

    /// Nil: the client does not want it.
    init?(_ socket: Int32, _ state: FaultState) {
        (self.socket, self.state) = (socket, state)
        guard let identity = state.identity else {
            stream = PlainStream(socket: socket)
            return
        }
        goesAway = state.shared.withLock { shared in
            defer { shared.goesAway = nil }
            return shared.goesAway
        }
        let context = goesAway == nil ? identity.plain : identity.http2
        guard let secure = try? SecureStream(socket, context) else { return nil }
        stream = secure
    }

    func serve() {
        if let goesAway { return goAway(goesAway.path, goesAway.count) }
        while let request = readRequest() {
            let behaviour = take(request)
            if let behaviour, behaviour.guarded != nil {
                if behaviour.holdsHead { state.waitForRelease(request.path) }
                if let challenge = challenge(to: request) {
                    let head = "HTTP/1.1 401 X\r\n\(Self.empty)\(challenge)\r\n"
                    guard send(head) else { return }
                    // The file of an upload is on its way.
                    guard request.method == "GET" else { return drain() }
                    continue
                }
            }
            guard request.method == "GET" else {
                guard receiveUpload(request, behaviour?.upload) else { return }
                continue
            }
            guard let behaviour else {
                guard send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") else { return }
                continue
            }
            guard answer(request, behaviour) else { return }
        }
    }

    /// How it is answered.
    private func take(_ request: FaultServer.Request) -> FaultServer.Behaviour? {
        defer { state.events.signal() }
        return state.shared.withLock { shared in
            shared.requests.append(request)
            guard var behaviour = shared.behaviours[request.path] else { return nil }
            let answered = behaviour
            if let left = behaviour.statusCount, behaviour.status != nil {
                behaviour.statusCount = left - 1
                if left <= 1 { behaviour.status = nil }
                shared.behaviours[request.path] = behaviour
            }
            return answered
        }
    }

    /// Nil: the request may pass.
    private func challenge(to request: FaultServer.Request) -> String? {
        let known = state.shared.withLock { $0.behaviours[request.path]?.guarded }
        guard var guarded = known else { return nil }
        let refusal = guarded.refusal(of: request)
        state.shared.withLock { $0.behaviours[request.path]?.guarded = guarded }
        return refusal
    }

    // MARK: Bytes

    /// At most `count`; nil: there are no more.
    func read(_ count: Int) -> [UInt8]? {
        guard input.isEmpty else {
            let bytes = Array(input.prefix(count))
            input.removeFirst(bytes.count)
            return bytes
        }
        return stream.read(count)
    }

    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) -> Bool { stream.send(bytes) }

    /// A connection that is closed with bytes unread takes the answer along.
    func drain() {
        shutdown(socket, Int32(SHUT_WR))
        while stream.read(65_536) != nil {}
    }

    // MARK: Requests

    private func readRequest() -> FaultServer.Request? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let split = input.firstIndex(of: end) {
                let head = String(decoding: input[..<split], as: UTF8.self)
                input.removeFirst(split + end.count)
                return Self.request(head)
            }
            guard let bytes = stream.read(16_384) else { return nil }
            input += bytes
        }
    }

    private static func request(_ head: String) -> FaultServer.Request? {
        let lines = head.split(separator: "\r\n")
        guard let first = lines.first else { return nil }
        let words = first.split(separator: " ")
        guard words.count == 3 else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields[line[..<colon].lowercased()] = String(value)
        }
        return FaultServer.Request(
            method: String(words[0]),
            path: String(words[1]),
            fields: fields
        )
    }

    // MARK: Answers

    /// False: the connection is over.
    private func answer(
        _ request: FaultServer.Request,
        _ behaviour: FaultServer.Behaviour
    ) -> Bool {
        if behaviour.holdsHead { state.waitForRelease(request.path) }
        if let leftover = behaviour.leftover, !send(leftover) { return false }
        if let garbage = behaviour.garbage {
            var goesOn = send(garbage)
            let more = [UInt8](repeating: 0, count: 65_536)
            while behaviour.isEndless, goesOn { goesOn = send(more) }
            return false
        }
        if behaviour.hasEndlessHead {
            var goesOn = send("HTTP/1.1 200 OK\r\n")
            while goesOn { goesOn = send("X-More: and more of it\r\n") }
            return false
        }
        let extra = behaviour.fields.map { $0 + "\r\n" }.joined()
        if let target = behaviour.redirect {
            return send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\n\(Self.empty)\(extra)\r\n")
        }
        if let status = behaviour.status {
            return send("HTTP/1.1 \(status) X\r\n\(Self.empty)\(extra)\r\n")
        }
        let validators = behaviour.validators
        if let body = behaviour.compressed {
            let length = "Content-Encoding: gzip\r\nContent-Length: \(body.count)\r\n"
            return send("HTTP/1.1 200 OK\r\n\(length)\(validators)\(extra)\r\n") && send(body)
        }
        guard let range = behaviour.range(of: request) else {
            let all = 0..<behaviour.object.size
            return sendBody(request, behaviour, "200 OK", validators + extra, all)
        }
        let size = behaviour.object.size + behaviour.totalError
        let said = behaviour.isBrief ? validators : validators + extra
        guard !range.isEmpty else {
            let none = "Content-Range: bytes */\(size)\r\n"
            return send("HTTP/1.1 416 X\r\n\(none)\(Self.empty)\(said)\r\n")
        }
        let place = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)\r\n"
        if behaviour.sendsSeveralParts { return sendParts(behaviour, place, validators, range) }
        return sendBody(request, behaviour, "206 Partial Content", place + said, range)
    }

    private static let empty = "Content-Length: 0\r\n"

    /// The part that was asked for, and another one.
    private func sendParts(
        _ behaviour: FaultServer.Behaviour,
        _ place: String,
        _ validators: String,
        _ range: Range<Int64>
    ) -> Bool {
        let (object, size) = (behaviour.object, behaviour.object.size)
        let first = "--parts\r\n\(place)\r\n"
        let second = "\r\n--parts\r\nContent-Range: bytes 0-0/\(size)\r\n\r\n"
        let body =
            Array(first.utf8)
            + object.bytes(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound))
            + Array(second.utf8) + object.bytes(at: 0, count: 1) + Array("\r\n--parts--\r\n".utf8)
        let head =
            "HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=parts\r\n"
            + "Content-Length: \(body.count)\r\n\(validators)\r\n"
        return send(head) && send(body)
    }

    private func sendBody(
        _ request: FaultServer.Request,
        _ behaviour: FaultServer.Behaviour,
        _ status: String,
        _ fields: String,
        _ range: Range<Int64>
    ) -> Bool {
        let length = range.upperBound - range.lowerBound + behaviour.lengthError
        let form =
            behaviour.isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)"
        guard send("HTTP/1.1 \(status)\r\n\(fields)\(form)\r\n\r\n") else { return false }
        state.shared.withLock {
            $0.answered += 1
            $0.bodies += 1
            $0.mostBodies = max($0.mostBodies, $0.bodies)
        }
        defer { state.shared.withLock { $0.bodies -= 1 } }
        state.events.signal()
        var offset = range.lowerBound
        while offset < range.upperBound {
            var count = min(behaviour.dripsBytes ?? 65_536, range.upperBound - offset)
            let sent = offset - range.lowerBound
            if let hold = behaviour.holdsAfter {
                if sent == hold {
                    state.waitForRelease(request.path)
                } else if sent < hold {
                    count = min(count, hold - sent)
                }
            }
            if let drop = behaviour.dropsAfter {
                if sent == drop { return false }
                if sent < drop { count = min(count, drop - sent) }
            }
            guard send(behaviour, behaviour.object.bytes(at: offset, count: Int(count))) else {
                return false
            }
            offset += count
        }
        // All but the word that it was all.
        if behaviour.dropsAfter == range.upperBound - range.lowerBound { return false }
        return behaviour.isChunked ? send("0\r\n\r\n") : behaviour.lengthError == 0
    }

    private func send(_ behaviour: FaultServer.Behaviour, _ bytes: [UInt8]) -> Bool {
        // Until the client closes at the latest.
        if behaviour.dripsBytes != nil {
            _ = Poll.ready(socket, for: .hangUp, milliseconds: 20)
        }
        guard behaviour.isChunked else { return send(bytes) }
        return send(String(bytes.count, radix: 16) + "\r\n") && send(bytes) && send("\r\n")
    }

    // MARK: HTTP/2

    /// Says nothing of what it was asked for: that would need the tables of HPACK.
    private func goAway(_ path: String, _ count: Int64) {
        guard let object = state.shared.withLock({ $0.behaviours[path]?.object }),
            send(RawHTTP2.settings), bytes(RawHTTP2.preface.count) != nil
        else { return }
        var stream: UInt32?
        while stream == nil {
            guard let head = bytes(9) else { return }
            let count = head[..<3].reduce(0) { $0 << 8 | Int($1) }
            guard bytes(count) != nil else { return }
            let (kind, flags) = (head[3], head[4])
            if kind == 1 { stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) } }
            if kind == 4, flags & 1 == 0, !send(RawHTTP2.frame(4, 1, 0, [])) { return }
        }
        guard let stream else { return }
        state.shared.withLock {
            $0.requests.append(FaultServer.Request(method: "GET", path: path, fields: [:]))
        }
        state.events.signal()
        let fields = [
            (":status", "200"), ("content-length", "\(object.size)"),
            ("etag", "\"\(object.version)\""),
        ]
        guard send(RawHTTP2.frame(1, 4, stream, RawHTTP2.block(fields))) else { return }
        var offset: Int64 = 0
        while offset < count {
            let piece = object.bytes(at: offset, count: Int(min(16_384, count - offset)))
            guard send(RawHTTP2.frame(0, 0, stream, piece)) else { return }
            offset += Int64(piece.count)
        }
        let last = (0..<4).map { UInt8(truncatingIfNeeded: stream >> (24 - 8 * $0)) }
        if send(RawHTTP2.frame(7, 0, 0, last + [0, 0, 0, 0])) { drain() }
    }

    /// Exactly so many.
    private func bytes(_ count: Int) -> [UInt8]? {
        var all: [UInt8] = []
        while all.count < count {
            guard let more = read(count - all.count) else { return nil }
            // Of TLS more may come at once than was asked for at first.
            all += more
        }
        return all
    }
}

extension FaultServer.Behaviour {
    /// As the header field has it; nil: there is none that could be named.
    private var validator: (name: String, value: String, isStrong: Bool)? {
        let version = object.version
        return switch tag {
        case .strong: ("ETag", "\"\(version)\"", true)
        case .weak: ("ETag", "W/\"\(version)\"", false)
        case .absent: nil
        case .dateOnly:
            ("Last-Modified", "Sun, 01 Mar 2026 12:00:\(version % 50 + 10) GMT", true)
        }
    }

    fileprivate var validators: String {
        guard let validator else { return "" }
        let date = tag == .dateOnly ? "Date: Mon, 02 Mar 2026 12:00:00 GMT\r\n" : ""
        return "\(date)\(validator.name): \(validator.value)\r\n"
    }

    /// The part that a request is answered with: an empty one is beyond the end. Nil: with all.
    fileprivate func range(of request: FaultServer.Request) -> Range<Int64>? {
        guard honoursRange, let text = request.fields["range"], text.hasPrefix("bytes=") else {
            return nil
        }
        let ends = text.dropFirst("bytes=".count).split(
            separator: "-",
            omittingEmptySubsequences: false
        )
        guard ends.count == 2, let asked = Int64(ends[0]) else { return nil }
        // RFC 9110 section 13.1.5: exactly the strong one.
        if let wanted = request.fields["if-range"], !ignoresIfRange {
            guard let validator, validator.isStrong, validator.value == wanted else { return nil }
        }
        let first = asked + rangeShift
        let end = min(object.size, Int64(ends[1]).map { $0 + 1 } ?? object.size)
        guard first < end else { return 0..<0 }
        return first..<(partLimit.map { min(end, first + $0) } ?? end)
    }
}

extension [UInt8] {
    fileprivate func firstIndex(of part: [UInt8]) -> Int? {
        guard count >= part.count else { return nil }
        for index in 0...(count - part.count)
        where self[index] == part[0] && Array(self[index..<index + part.count]) == part {
            return index
        }
        return nil
    }
}
