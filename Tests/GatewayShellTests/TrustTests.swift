import GatewayShell
import Linux
import TestKit
import Testing

/// A certificate that is not taken is told of so that whoever typed the command knows what to type.
struct TrustTests {
    private func gateway(_ names: String) throws -> ScratchGateway {
        let gateway = try ScratchGateway()
        for name in ["server.pem", "server.key", "ca.pem", "ca.key"] {
            try Files.remove(gateway.directory(name))
        }
        #expect(try gateway.run("init", "--host=\(names)").succeeded)
        try gateway.start()
        return gateway
    }

    /// Both commands that connect to a gateway.
    private func refusals(_ gateway: ScratchGateway, host: String, ca: String) throws -> [String] {
        let send = try gateway.run(
            "send",
            "--topic=a.b",
            "--alert=x",
            "--host=\(host):\(gateway.port)",
            "--ca=\(ca)",
            "00"
        )
        let device = try gateway.run(
            "device",
            "--host=\(host):\(gateway.devicePort)",
            "--ca=\(ca)",
            "a.b"
        )
        #expect(send.status == .exited(1) && device.status == .exited(1))
        return [send.errors, device.errors]
    }

    @Test func `a certificate for other names says for which, and how to ask for one`() throws {
        let gateway = try gateway("push.example.org,*.example.net,10.0.0.1,::2")
        let ports = [gateway.port, gateway.devicePort]
        let texts = try refusals(gateway, host: "127.0.0.1", ca: gateway.paths.authority)
        for (text, port) in zip(texts, ports) {
            let names = "push.example.org, *.example.net, 10.0.0.1, ::2"
            #expect(text.contains("is for \(names), not for 127.0.0.1\n"), "\(text)")
            #expect(text.contains("--host=push.example.org:\(port)"), "\(text)")
        }
    }

    @Test func `an authority that is not trusted is named, and the file that was`() throws {
        let gateway = try gateway("127.0.0.1")
        let other = try ScratchGateway()
        let file = other.paths.authority
        for text in try refusals(gateway, host: "127.0.0.1", ca: file) {
            let who = "\"Offstage push gateway\", who is not trusted by \(file)\n"
            #expect(text.contains(who) && text.contains("--ca=FILE"), "\(text)")
        }
    }

    @Test(arguments: ["send", "device"])
    func `without a file of an authority it is said how to name one`(command: String) throws {
        let place = ScratchDirectory()
        let options =
            command == "send"
            ? ["--topic=a.b", "--alert=x", "--key=key", "--key-id=A", "--team=B"] : []
        place.write("", to: "key")
        var run = Command(
            [ScratchGateway.program, command, "--directory=\(place("none"))"] + options + ["a.b"]
        )
        run.directory = place.path
        let outcome = try run.run()
        #expect(outcome.errors.contains("--ca=FILE"), "\(outcome)")
        #expect(outcome.status == .exited(3))
        #expect(place.entries == ["key"])
    }
}
