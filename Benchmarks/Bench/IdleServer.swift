import Glibc
import Linux
import TestKit

/// A program that is spoken with in lines; ended with this object.
final class Conversation {
    let process: PidFD
    let pid: Int32
    private let input: FileDescriptor
    private let output: FileDescriptor
    private var unread = ""

    init(_ command: Command) throws {
        var input = try Pipe()
        var output = try Pipe()
        var program = Program(
            command.arguments[0],
            arguments: command.arguments,
            environment: Command.cleanEnvironment()
        )
        program.input = input.reading?.number
        program.output = output.writing?.number
        process = try program.start()
        // Its ends are open until here, and not longer.
        input.reading = nil
        output.writing = nil
        pid = process.pid
        guard let writing = input.writing.take(), let reading = output.reading.take() else {
            throw DidNotHappen(description: "a pipe")
        }
        self.input = writing
        self.output = reading
    }

    deinit {
        try? process.send(Signal.kill)
        _ = try? process.wait(block: true)
    }

    func say(_ line: String) throws { try input.writeAll(line + "\n") }

    /// The next line; waits for as long as it takes.
    func line() throws -> String {
        while true {
            if let end = unread.firstIndex(of: "\n") {
                defer { unread = String(unread[unread.index(after: end)...]) }
                return String(unread[..<end])
            }
            let more = try output.read(upTo: 4096)
            guard !more.isEmpty else { throw DidNotHappen(description: "a line") }
            unread += String(decoding: more, as: UTF8.self)
        }
    }

    func expect(_ wanted: String) throws {
        let line = try line()
        guard line == wanted else { throw DidNotHappen(description: "\(wanted): \(line)") }
    }
}

/// A server whose idle connections are measured.
final class IdleServer {
    let port: UInt16
    private let conversation: Conversation

    /// It prints its port.
    init(_ command: Command) throws {
        conversation = try Conversation(command)
        guard let port = UInt16(try conversation.line()) else {
            throw DidNotHappen(description: "a port")
        }
        self.port = port
    }

    /// With the certificate in the directory, at a port that nobody has.
    init(mosquittoIn scratch: ScratchDirectory) throws {
        port = try InternetListener(InternetAddress(host: "127.0.0.1", port: 0)).port
        scratch.write(
            """
            listener \(port) 127.0.0.1
            allow_anonymous true
            certfile \(scratch("server.pem"))
            keyfile \(scratch("server.key"))
            max_connections -1
            user root
            log_dest none

            """,
            to: "mosquitto.conf"
        )
        let search = "/usr/sbin:/usr/bin"
        guard let path = Files.executable("mosquitto", searchPath: search) else {
            throw DidNotHappen(description: "mosquitto is not installed")
        }
        conversation = try Conversation(Command(path, "-c", scratch("mosquitto.conf")))
        let address = InternetAddress(host: "127.0.0.1", port: port)
        while (try? InternetSocket.connect(to: address)) == nil {
            guard !conversation.process.hasExited else {
                throw DidNotHappen(description: "mosquitto serving")
            }
            usleep(10_000)
        }
    }

    /// Memory that is this process's alone.
    var anonymousBytes: Double { ProcessFields(of: conversation.pid)["RssAnon"] * 1024 }

    func processorSeconds() throws -> Double { try Processor.seconds(of: conversation.pid) }
}
