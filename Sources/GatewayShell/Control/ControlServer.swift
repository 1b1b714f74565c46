import CommandTable
import EventLoop
import GatewayCore
import Linux
import Vocabulary

/// Answers plain HTTP/1 questions, one a connection: Prometheus at an address that the operator
/// chose, and the gateway's own commands at a socket that only its user can reach.
final class ControlServer {
    struct Answer {
        var status = "200 OK"
        var type = "application/json"
        /// The methods that there are, for one that is not.
        var allows = ""
        var body: String

        static func refusal(_ status: String, allows: String = "", _ text: String) -> Answer {
            Answer(status: status, type: "text/plain", allows: allows, body: text)
        }
    }

    private let loop: EventLoop
    /// Answers a question, at once or later.
    typealias Reply = (Answer) -> Void
    private let answer: (_ method: String, _ path: String, @escaping Reply) -> Void
    private var source: DescriptorSource?
    private var unix: UnixListener?
    private var internet: InternetListener?
    private var door = OperatorDoor()
    private var connections: [Int: Connection] = [:]
    private var last = 0
    let port: UInt16

    private final class Connection {
        let descriptor: FileDescriptor
        var question: [UInt8] = []
        var source: DescriptorSource?
        /// What is left of the answer.
        var answer: [UInt8] = []

        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    init(
        _ loop: EventLoop,
        at path: String,
        _ answer: @escaping (String, String, @escaping Reply) -> Void
    ) throws(LinuxError) {
        (self.loop, self.answer, port) = (loop, answer, 0)
        let listener = try UnixListener(path)
        let number = listener.descriptor.number
        unix = consume listener
        source = try DescriptorSource(loop, number, .readable) { [unowned self] _ in accept() }
    }

    init(
        _ loop: EventLoop,
        _ listener: consuming InternetListener,
        _ answer: @escaping (String, String, @escaping Reply) -> Void
    ) throws(LinuxError) {
        (self.loop, self.answer) = (loop, answer)
        port = listener.port
        let number = listener.descriptor.number
        internet = consume listener
        source = try DescriptorSource(loop, number, .readable) { [unowned self] _ in accept() }
    }

    private func accept() {
        var socket: FileDescriptor?
        do throws(LinuxError) {
            if unix != nil {
                socket = try unix?.accept()
            } else {
                socket = try internet?.accept()
            }
        } catch {
            return
        }
        guard let socket = socket.take() else { return }
        last += 1
        let number = last
        let arrival = door.arrived(number, at: Clocks.boot())
        for other in arrival.closed { connections[other] = nil }
        guard arrival.isTaken else { return }
        let connection = Connection(socket)
        connections[number] = connection
        connection.source = try? DescriptorSource(
            loop,
            connection.descriptor.number,
            .readable
        ) { [unowned self] _ in
            if connections[number]?.answer.isEmpty == false { write(number) } else { read(number) }
        }
    }

    private func close(_ number: Int) {
        connections[number] = nil
        door.left(number)
    }

    private func read(_ number: Int) {
        guard let connection = connections[number] else { return }
        do throws(LinuxError) {
            let limit = OperatorDoor.questionLimit
            guard let bytes = try connection.descriptor.readAvailable(upTo: limit) else { return }
            connection.question += bytes
            if bytes.isEmpty || connection.question.count > limit { return close(number) }
            let text = String(decoding: connection.question, as: UTF8.self)
            guard text.hasSuffix("\r\n\r\n") else { return }
            // Nothing more is read of it.
            try? connection.source?.setEnabled(false)
            let words = text.prefix { $0 != "\r\n" && $0 != "\r" }.split(separator: " ")
            guard words.count >= 2 else {
                return reply(
                    Answer(status: "400 Bad Request", type: "text/plain", body: ""),
                    number
                )
            }
            // HEAD is GET without the body.
            let method = words[0] == "HEAD" ? "GET" : String(words[0])
            answer(method, String(words[1].prefix { $0 != "?" })) { [weak self] in
                self?.reply($0, number, withBody: words[0] != "HEAD")
            }
        } catch {
            close(number)
        }
    }

    private func reply(_ reply: Answer, _ number: Int, withBody: Bool = true) {
        guard let connection = connections[number] else { return }
        let body = Array(reply.body.utf8)
        let head =
            "HTTP/1.0 \(reply.status)\r\nContent-Type: \(reply.type)\r\n"
            + "Content-Length: \(body.count)\r\nConnection: close\r\n"
            + (reply.allows.isEmpty ? "" : "Allow: \(reply.allows)\r\n") + "\r\n"
        connection.answer = Array(head.utf8) + (withBody ? body : [])
        write(number)
    }

    /// As much as is taken now; the rest when there is room.
    private func write(_ number: Int) {
        guard let connection = connections[number] else { return }
        do throws(LinuxError) {
            while !connection.answer.isEmpty {
                let bytes = connection.answer
                connection.answer.removeFirst(try connection.descriptor.write(bytes.span))
            }
            close(number)
        } catch  where error.errno == .again {
            try? connection.source?.setEvents(.writable)
            try? connection.source?.setEnabled(true)
        } catch {
            // Whoever asked is gone.
            close(number)
        }
    }
}

/// Asks a running gateway at its socket.
enum ControlClient {
    static func ask(
        _ method: String,
        _ path: String,
        _ paths: GatewayPaths
    ) throws(Failure) -> Value {
        try paths.checkExists()
        try GatewayPaths.checkReadable(paths.control)
        let bytes: [UInt8]
        do throws(LinuxError) {
            let socket = try UnixSocket.connect(to: paths.control)
            try socket.writeAll("\(method) \(path) HTTP/1.0\r\n\r\n")
            bytes = try socket.readAll(limit: 1 << 20)
        } catch {
            throw Failure(
                .notRunning,
                "no gateway is running in \(paths.directory.quoted)",
                fix: "\"offstage-gateway serve\" starts one."
            )
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let head = text.range(of: "\r\n\r\n") else {
            throw Failure(.failed, "the gateway did not answer")
        }
        let body = String(text[head.upperBound...])
        let isGood = text.hasPrefix("HTTP/1.0 200")
        guard isGood, let value = try? ValueJSON.parse(body) else {
            throw Failure(text.hasPrefix("HTTP/1.0 404") ? .notFound : .failed, body)
        }
        return value
    }
}

extension String {
    fileprivate func range(of part: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(part) {
                return start..<index(start, offsetBy: part.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
