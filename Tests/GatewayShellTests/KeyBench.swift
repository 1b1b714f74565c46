import GatewayCore
import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// A gateway with one app on one device, and its provider.
struct KeyBench {
    let gateway: ScratchGateway
    let token: String

    init() throws {
        gateway = try ScratchGateway()
        token = try gateway.register(1)[0]
        try gateway.start()
    }

    /// What one who sends with this key is told.
    func push(_ key: String, of id: String, _ team: String) throws -> Outcome {
        let text = try ProviderClient.token(key: key, id: id, team: team)
        return Outcome(
            try gateway.client.send(
                "POST",
                "/3/device/" + token,
                [("apns-topic", ScratchGateway.topic), ("authorization", "bearer " + text)],
                body: Array("{}".utf8)
            )
        )
    }

    func push(of id: String, _ team: String) throws -> Outcome {
        try push(try Files.text(gateway.paths.providerKey(id)), of: id, team)
    }

    /// Changes something and waits until the gateway has read it.
    @discardableResult
    func change(_ arguments: String...) throws -> Command.Outcome {
        let log = gateway.directory("log1")
        let before = try Files.text(log).split(separator: "\n").count
        let outcome = try Command(
            [ScratchGateway.program] + arguments + ["--directory=\(gateway.directory.path)"]
        ).run()
        #expect(outcome.succeeded, "\(outcome.errors)")
        try Wait.until(file: log, "reloaded") {
            $0.split(separator: "\n").count > before
        }
        return outcome
    }
}
