import Linux
import TLS
import TestKit
import Testing

/// Our sessions against the `openssl` program.
struct ProgramTests {
    let scratch = ScratchDirectory()

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func theProgramTalksToOurServer(version: String) throws {
        let authority = try Authority()
        let server = try Serving(authority, at: scratch("s"), protocols: ["h2"])
        scratch.write(try authority.certificate.pem(), to: "ca.pem")
        let outcome = try client("\(version) -alpn h2 -verify_return_error").run()
        #expect(outcome.succeeded, "\(outcome)")
        #expect(outcome.output.contains("ALPN protocol: h2"))
        #expect(outcome.output.contains("Verify return code: 0 (ok)"))
        #expect(outcome.output.contains("answer"))
        withExtendedLifetime(server) {}
    }

    @Test(arguments: ["-tls1_1 -cipher ALL:@SECLEVEL=0", "-alpn http/1.1"])
    func anOldVersionAndAnotherProtocolAreRefused(options: String) throws {
        let authority = try Authority()
        let server = try Serving(authority, at: scratch("s"), protocols: ["h2"])
        scratch.write(try authority.certificate.pem(), to: "ca.pem")
        let outcome = try client(options).run()
        #expect(!outcome.succeeded)
        #expect(!outcome.output.contains("answer"))
        withExtendedLifetime(server) {}
    }

    private func client(_ options: String) -> Command {
        Command(
            "sh",
            "-c",
            "openssl s_client -unix \(scratch("s")) -servername localhost -verify_hostname "
                + "localhost -CAfile \(scratch("ca.pem")) -ign_eof \(options) </dev/null"
        )
    }
}

/// Answers each connection with a word and closes it.
private final class Serving {
    private let thread: ServingThread

    init(_ authority: Authority, at path: String, protocols: [String]) throws {
        let identity = try authority.server("localhost")
        let context = try TLSContext(
            server: identity.chain,
            key: identity.key,
            protocols: protocols
        )
        try CurrentProcess.ignore(signal: Signal.pipe)
        let listener = Listener(try UnixListener(path))
        thread = try ServingThread { stopped in
            try listener.serve(until: stopped, context)
        }
    }

    private final class Listener: Sendable {
        private let socket: UnixListener

        init(_ socket: consuming UnixListener) { self.socket = socket }

        func serve(until stopped: Int32, _ context: TLSContext) throws {
            let number = socket.descriptor.number
            while true {
                let ready = try Poll.wait(for: [(stopped, .readable), (number, .readable)])
                if !ready[0].isEmpty { return }
                guard let connection = try socket.accept() else { continue }
                // A client that is refused is what some tests are about.
                try? Serving.serve(connection, context)
            }
        }
    }

    static func serve(
        _ connection: borrowing FileDescriptor,
        _ context: TLSContext
    ) throws {
        var session = try TLSSession(context, serving: connection.number)
        while true {
            switch try session.handshake() {
            case .done:
                let answer = Array("answer".utf8)
                _ = try session.write(answer.span)
                session.close()
                return
            case .wantsRead: try Wait.until(readable: connection.number)
            case .wantsWrite: try Wait.until(readable: connection.number, events: .writable)
            }
        }
    }
}
