import Glibc
import Linux
import Synchronization
import Vocabulary

/// An HTTP/1.1 server on loopback that does what servers should not, as each test asks. A thread
/// for each connection.
package final class FaultServer: Sendable {
    /// How it answers for one path.
    package struct Behaviour: Sendable {
        package var object: VersionedObject
        package var tag = Tag.strong
        /// Answers a range with a part.
        package var honoursRange = true
        /// Sends the part although the version is another.
        package var ignoresIfRange = false
        /// Of a part: begins so many bytes later than asked for.
        package var rangeShift: Int64 = 0
        /// Of a part: at most so many bytes.
        package var partLimit: Int64?
        /// Closes the connection after so many bytes of a body.
        package var dropsAfter: Int64?
        /// After so many bytes of a body it waits until `release`.
        package var holdsAfter: Int64?
        /// Says so many bytes more than it sends.
        package var lengthError: Int64 = 0
        package var isChunked = false
        /// Other than 200 or 206, with an empty body.
        package var status: Int?
        /// Of the next so many requests only; nil: of all.
        package var statusCount: Int?
        package var redirect: String?
        package var fields: [String] = []
        /// Sent in place of a head.
        package var garbage: String?
        /// After that, bytes without end.
        package var isEndless = false
        /// Header fields without end.
        package var hasEndlessHead = false
        /// Takes files; nil: none.
        package var upload: Upload?
        package init(_ object: VersionedObject) { self.object = object }
    }

    package enum Tag: Sendable { case strong, weak, absent, dateOnly }

    package struct Request: Sendable {
        package let method: String
        package let path: String
        /// In lower case, by name.
        package let fields: [String: String]
    }

    private final class Listening: Sendable {
        let listener: InternetListener
        init(_ listener: consuming InternetListener) { self.listener = listener }
    }

    struct Shared {
        var behaviours: [String: Behaviour] = [:]
        var requests: [Request] = []
        var held = 0
        var released = 0
        var connections: Set<Int32> = []
        var accepted = 0
        var uploads = Uploads()
    }

    let shared = Mutex(Shared())
    package let port: UInt16
    private let accepting = Mutex<ServingThread?>(nil)
    /// Written to when a body is held, and when a request has come.
    private let events: EventCounter
    private let releases: EventCounter

    package init() throws {
        let listener = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0))
        port = listener.port
        events = try EventCounter()
        releases = try EventCounter()
        let listening = Listening(listener)
        let thread = try ServingThread { [unowned self] stopped in
            while true {
                let ready = try Poll.wait(for: [
                    (listening.listener.descriptor.number, .readable), (stopped, .readable),
                ])
                if !ready[1].isEmpty { break }
                guard let connection = try listening.listener.accept() else { continue }
                try connection.setNonBlocking(false)
                let socket = connection.release()
                shared.withLock {
                    $0.connections.insert(socket)
                    $0.accepted += 1
                }
                try CurrentProcess.startThread(named: "fault-server") { [weak self] in
                    self?.serve(socket)
                    close(socket)
                }
            }
        }
        accepting.withLock { $0 = thread }
    }

    deinit {
        accepting.withLock { $0 = nil }
        for socket in shared.withLock({ $0.connections }) { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    package func set(_ path: String, _ behaviour: Behaviour) {
        shared.withLock { $0.behaviours[path] = behaviour }
    }

    package func change(_ path: String, _ body: (inout Behaviour) -> Void) {
        shared.withLock { shared in
            guard var behaviour = shared.behaviours[path] else { return }
            body(&behaviour)
            shared.behaviours[path] = behaviour
        }
    }

    /// How many bodies have been held so far.
    package var heldCount: Int { shared.withLock { $0.held } }

    package func object(_ path: String) -> VersionedObject? {
        shared.withLock { $0.behaviours[path]?.object }
    }

    package var requests: [Request] { shared.withLock { $0.requests } }

    /// Connections, all in all.
    package var accepted: Int { shared.withLock { $0.accepted } }

    /// Until so many bodies have been held, all in all.
    package func waitUntilHeld(_ count: Int) throws {
        while shared.withLock({ $0.held }) < count {
            try Wait.until(readable: events.descriptor.number, "a body that is held")
            events.clear()
        }
    }

    package func waitForRequests(_ count: Int) throws {
        while requests.count < count {
            try Wait.until(readable: events.descriptor.number, "\(count) requests")
            events.clear()
        }
    }

    /// Bodies that are held go on.
    package func release() {
        shared.withLock { $0.released += 1 }
        releases.signal()
    }

    // MARK: Connections

    private func serve(_ socket: Int32) {
        defer { shared.withLock { _ = $0.connections.remove(socket) } }
        var input: [UInt8] = []
        while let request = read(socket, &input) {
            let behaviour = shared.withLock { shared in
                shared.requests.append(request)
                guard var behaviour = shared.behaviours[request.path] else {
                    return Behaviour?.none
                }
                let answered = behaviour
                if let left = behaviour.statusCount, behaviour.status != nil {
                    behaviour.statusCount = left - 1
                    if left <= 1 { behaviour.status = nil }
                    shared.behaviours[request.path] = behaviour
                }
                return answered
            }
            events.signal()
            if request.method != "GET" {
                guard take(socket, request, behaviour?.upload, &input) else { return }
                continue
            }
            guard let behaviour else {
                guard send(socket, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") else {
                    return
                }
                continue
            }
            guard answer(socket, request, behaviour) else { return }
        }
    }

    private func read(_ socket: Int32, _ input: inout [UInt8]) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let split = input.firstIndex(of: end) {
                let head = String(decoding: input[..<split], as: UTF8.self)
                input.removeFirst(split + end.count)
                return Self.request(head)
            }
            var buffer = [UInt8](repeating: 0, count: 16_384)
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            input += buffer[..<count]
        }
    }

    private static func request(_ head: String) -> Request? {
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
        return Request(method: String(words[0]), path: String(words[1]), fields: fields)
    }

    /// False: the connection is over.
    private func answer(_ socket: Int32, _ request: Request, _ behaviour: Behaviour) -> Bool {
        if let garbage = behaviour.garbage {
            var goesOn = send(socket, garbage)
            let more = [UInt8](repeating: 0, count: 65_536)
            while behaviour.isEndless, goesOn { goesOn = send(socket, more) }
            return false
        }
        if behaviour.hasEndlessHead {
            var goesOn = send(socket, "HTTP/1.1 200 OK\r\n")
            while goesOn { goesOn = send(socket, "X-More: and more of it\r\n") }
            return false
        }
        let extra = behaviour.fields.map { $0 + "\r\n" }.joined()
        if let target = behaviour.redirect {
            let head = "HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n"
            return send(socket, head + extra + "\r\n")
        }
        if let status = behaviour.status {
            return send(socket, "HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\(extra)\r\n")
        }
        let (first, end, isPart) = Self.range(request, behaviour)
        let size = behaviour.object.size
        var head = isPart ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n"
        if isPart {
            let shown = first + behaviour.rangeShift
            head += "Content-Range: bytes \(shown)-\(end - 1)/\(size)\r\n"
        }
        head += Self.validators(behaviour) + extra
        if behaviour.isChunked {
            head += "Transfer-Encoding: chunked\r\n"
        } else {
            head += "Content-Length: \(end - first + behaviour.lengthError)\r\n"
        }
        guard send(socket, head + "\r\n") else { return false }
        return sendBody(socket, behaviour, first, end)
    }

    private static func validators(_ behaviour: Behaviour) -> String {
        let version = behaviour.object.version
        return switch behaviour.tag {
        case .strong: "ETag: \"\(version)\"\r\n"
        case .weak: "ETag: W/\"\(version)\"\r\n"
        case .absent: ""
        case .dateOnly:
            "Date: Mon, 02 Mar 2026 12:00:00 GMT\r\n"
                + "Last-Modified: Sun, 01 Mar 2026 12:00:\(version % 50 + 10) GMT\r\n"
        }
    }

    private static func range(
        _ request: Request,
        _ behaviour: Behaviour
    ) -> (first: Int64, end: Int64, isPart: Bool) {
        let size = behaviour.object.size
        guard behaviour.honoursRange, let range = request.fields["range"],
            let first = Int64(range.dropFirst("bytes=".count).dropLast()), first < size
        else { return (0, size, false) }
        let wanted = request.fields["if-range"]
        let own = validators(behaviour)
        let isSame = wanted.map { own.contains($0) } ?? true
        guard isSame || behaviour.ignoresIfRange else { return (0, size, false) }
        let end = behaviour.partLimit.map { min(size, first + $0) } ?? size
        return (first, end, true)
    }

    private func sendBody(
        _ socket: Int32,
        _ behaviour: Behaviour,
        _ first: Int64,
        _ end: Int64
    ) -> Bool {
        var offset = first
        while offset < end {
            var count = min(65_536, end - offset)
            let sent = offset - first
            if let hold = behaviour.holdsAfter {
                if sent == hold {
                    waitForRelease()
                } else if sent < hold {
                    count = min(count, hold - sent)
                }
            }
            if let drop = behaviour.dropsAfter {
                if sent == drop { return false }
                if sent < drop { count = min(count, drop - sent) }
            }
            let bytes = behaviour.object.bytes(at: offset, count: Int(count))
            let isSent =
                behaviour.isChunked
                ? send(socket, String(bytes.count, radix: 16) + "\r\n") && send(socket, bytes)
                    && send(socket, "\r\n")
                : send(socket, bytes)
            guard isSent else { return false }
            offset += count
        }
        return behaviour.isChunked ? send(socket, "0\r\n\r\n") : behaviour.lengthError == 0
    }

    func waitForRelease() {
        let before = shared.withLock { shared in
            shared.held += 1
            return shared.released
        }
        events.signal()
        while shared.withLock({ $0.released }) == before {
            guard Poll.ready(releases.descriptor.number, for: .readable, milliseconds: 60_000)
            else { return }
            // Left readable: others may wait as well.
            if shared.withLock({ $0.released }) == before { releases.clear() }
        }
    }

    func send(_ socket: Int32, _ text: String) -> Bool { send(socket, Array(text.utf8)) }

    private func send(_ socket: Int32, _ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = Array(bytes[done...])
            let count = Glibc.send(socket, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return false }
            done += count
        }
        return true
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
