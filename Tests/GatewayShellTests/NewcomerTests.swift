import Linux
import TestKit
import Testing

/// What is typed wrong in the first hour, and what is said to it.
struct NewcomerTests {
    private let scratch = ScratchDirectory()

    private func run(_ words: String...) throws -> Command.Outcome {
        try Command([ScratchGateway.program] + words).run()
    }

    /// Its directory.
    private func gateway(_ name: String = "g") throws -> String {
        #expect(try run("init", "--directory=\(scratch(name))").succeeded)
        return scratch(name)
    }

    @Test(arguments: [
        ["serve"], ["keys"], ["keys", "add", "A", "--team=B"], ["topics"], ["devices"], ["log"],
        ["stats"], ["backup", "file"],
    ])
    func `where there is no gateway nothing is made, and init is named`(words: [String]) throws {
        try scratch.write("none/mine", "text")
        let outcome = try Command(
            [ScratchGateway.program] + words + ["--directory=\(scratch("none"))"]
        ).run()
        #expect(outcome.status == .exited(3), "\(outcome)")
        #expect(outcome.errors.contains("there is no gateway in"), "\(outcome.errors)")
        #expect(outcome.errors.contains("offstage-gateway init --directory="), "\(outcome.errors)")
        #expect(try Command("ls", scratch("none")).run().output == "mine\n")
    }

    @Test(arguments: ["serve", "init", "keys"])
    func `a directory whose name is empty is refused`(word: String) throws {
        var run = Command(ScratchGateway.program, word, "--directory=")
        run.directory = scratch.path
        let outcome = try run.run()
        #expect(outcome.status == .exited(2), "\(outcome)")
        #expect(outcome.errors.contains("--directory is empty"), "\(outcome.errors)")
        #expect(scratch.entries == [])
    }

    @Test(arguments: [
        ("server.key", "server.pem"), ("ca.pem", "server.pem"), ("token.key", "gateway.db"),
    ])
    func `half of a pair is not made anew in silence`(file: String, other: String) throws {
        let place = try gateway()
        if !Files.exists(place + "/" + other) { try scratch.write("g/" + other, "") }
        try Files.remove(place + "/" + file)
        let outcome = try run("init", "--directory=\(place)")
        #expect(outcome.status == .exited(1) && outcome.output == "", "\(outcome)")
        #expect(outcome.errors.contains("has \(other), but no \(file)"), "\(outcome.errors)")
        #expect(!Files.exists(place + "/" + file))
        let served = try run("serve", "--directory=\(place)")
        #expect(served.errors.contains("lacks \(file)"), "\(served.errors)")
    }

    @Test(arguments: [
        "http://push.example.org", "push.example.org:8443", "-push", "256.1.1.1", "a..b",
        "push.example.org/", "hällo", "a_b", "*",
    ])
    func `a certificate is for names and addresses only`(host: String) throws {
        let outcome = try run("init", "--host=\(host)", "--directory=\(scratch("g"))")
        #expect(outcome.status == .exited(2), "\(outcome)")
        #expect(outcome.errors.contains("--host cannot be"), "\(outcome.errors)")
        #expect(!Files.exists(scratch("g")))
    }

    @Test func `the printed address is none with a wildcard`() throws {
        let place = scratch("g")
        let hosts = "--host=*.example.org,push.example.org"
        let outcome = try run("init", hosts, "--directory=\(place)")
        #expect(outcome.output.contains("https://push.example.org:8443/"), "\(outcome)")
    }

    @Test func `another key for a gateway that is there is asked for elsewhere`() throws {
        let place = try gateway()
        let outcome = try run("init", "--key-id=NEW0000001", "--team=B", "--directory=\(place)")
        #expect(outcome.status == .exited(1) && outcome.output == "", "\(outcome)")
        #expect(
            outcome.errors.contains("offstage-gateway keys add NEW0000001 --team=B"),
            "\(outcome.errors)"
        )
        let same = try run("init", "--key-id=OFFSTAGE01", "--directory=\(place)")
        #expect(same.succeeded, "\(same)")
    }

    @Test(arguments: [
        ([], "the push has no content"), (["--data=a=b"], "the push has no content"),
        (["--payload={"], "--payload is not a JSON object"),
        (["--payload=7"], "--payload is not a JSON object"),
    ])
    func `a push without content is not sent`(words: [String], message: String) throws {
        let place = try gateway()
        let options = ["--topic=a.b", "--directory=\(place)"] + words
        let outcome = try Command([ScratchGateway.program, "send"] + options + ["00"]).run()
        #expect(outcome.status == .exited(2), "\(outcome)")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test(arguments: [
        (["keys", "add"], "keys add: ID is missing"),
        (["keys", "certificate"], "keys certificate: TOPIC is missing"),
        (["keys", "ad", "A"], "Did you mean keys add?"),
        (["keys", "remove", "A", "B"], "keys remove: unexpected argument \"B\"\nUsage: "),
        (["topics", "remove"], "topics remove: TOPIC is missing"),
        (["topics", "set", "A"], "topics set: TOPIC is missing"),
        (["topics", "add"], "topics add: TOPIC is missing"),
        (["topics", "add", "a.b"], "--team is missing"),
        (["topics", "add", "a.b", "--team=a b"], "--team cannot be \"a b\""),
        (["topics", "add", "a b", "--team=A"], "\"a b\" is not a topic"),
        (["topics", "--team=A"], "--team goes with add"),
        (["devices", "remove"], "devices remove: NUMBER is missing"),
        (["devices", "rm", "1"], "Did you mean devices remove?"),
    ])
    func `what is missing is named`(words: [String], message: String) throws {
        let place = try gateway()
        let outcome = try Command(
            [ScratchGateway.program] + words + ["--directory=\(place)"]
        ).run()
        #expect(outcome.status == .exited(2), "\(outcome)")
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }

    @Test func `a port that is taken is told with what to do`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let other = try self.gateway()
        let outcome = try run(
            "serve",
            "--listen=:\(gateway.port)",
            "--devices=:0",
            "--directory=\(other)"
        )
        #expect(outcome.status == .exited(1), "\(outcome)")
        #expect(outcome.errors.contains("another address with --listen"), "\(outcome.errors)")
    }
}
