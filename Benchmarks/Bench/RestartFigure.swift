import DeviceLink
import EventLoop
import GatewayShell
import Linux
import SQLite
import TLS
import TestKit
import Vocabulary
import Wire

/// How long a gateway that was killed takes to serve again, with a push stored for each of many
/// devices.
struct RestartFigure {
    static let stored = 1_000_000
    static let rounds = 3

    func run() throws -> [Figure] {
        let scratch = ScratchDirectory()
        let paths = try GatewayProcess.makeGateway(in: scratch)
        // It makes its file.
        _ = try GatewayProcess(serving: paths.directory, logging: scratch("log"))
        let key = try Ed25519PrivateKey()
        try fill(paths, first: try key.publicKey().bytes)
        var times: [Double] = []
        for round in 0..<Self.rounds {
            let server = try GatewayProcess(serving: paths.directory, logging: scratch("log"))
            times.append(server.startTime)
            // It has what was stored.
            if round == 0 { try receive(paths, server, key) }
        }
        return [
            Figure(
                name: "start with \(Self.stored) stored pushes, until it serves",
                unit: "s",
                ours: times.median,
                limit: .atMost(3)
            )
        ]
    }

    /// Devices with an app and a stored push each; the first has this key.
    private func fill(_ paths: GatewayPaths, first key: [UInt8]) throws {
        let database = try Database(path: paths.store, mode: .create)
        let numbers = """
            WITH RECURSIVE numbers (n) AS
            (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(Self.stored))
            """
        try database.transaction { () throws(SQLiteError) in
            try database.execute("INSERT INTO apps VALUES (1, '\(PushFigures.topic)')")
            try database.execute(
                """
                INSERT INTO devices \(numbers)
                SELECT n, randomblob(32), 0, 4000000000000000000 FROM numbers;
                INSERT INTO registrations \(numbers) SELECT n, 1, 1, 1, x'' FROM numbers;
                INSERT INTO slots \(numbers) SELECT n, 1, 0, n, 4000000000000000000, 1, 10, 0, x'',
                CAST('\(PushFigures.body)' AS BLOB) FROM numbers;
                INSERT INTO log \(numbers) SELECT n, n, 1, 1, 10, 165, 0, randomblob(16),
                'OFFSTAGE01', x'0900000301' FROM numbers;
                """
            )
            let first = try database.prepare("UPDATE devices SET key = ? WHERE id = 1")
            try first.bind(key, at: 1)
            try first.run()
        }
    }

    private func receive(
        _ paths: GatewayPaths,
        _ server: GatewayProcess,
        _ key: Ed25519PrivateKey
    ) throws {
        let loop = try EventLoop()
        var received = 0
        let link = try GatewayLink(
            loop,
            to: InternetAddress(host: "localhost", port: server.devicePort),
            try TLSContext(
                clientTrusting: try Files.text(paths.authority),
                protocols: [LinkFormat.protocolName]
            ),
            key: key,
            LinkClient(condition: LinkCondition(), seed: 1)
        ) { _, event in
            if case .push = event { received += 1 }
        }
        link.start()
        while received == 0 { _ = try loop.runTurn() }
        link.stop()
    }
}
