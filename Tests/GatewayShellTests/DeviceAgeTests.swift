import EventLoop
import GatewayCore
import GatewayShell
import SQLite
import TestKit
import Testing
import Vocabulary

/// Devices that were not seen for long are gone, their tokens with them; others are not.
struct DeviceAgeTests {
    private func limits() -> GatewayLimits {
        var limits = GatewayLimits()
        limits.deviceGrace = .zero
        return limits
    }

    /// As if the devices had been seen last when it was 1970.
    private func age(_ node: ScratchNode) throws {
        try Database(path: node.directory("gateway.db"), mode: .create)
            .execute("UPDATE devices SET seen = 0 WHERE length(key) = 32")
    }

    private func devices(_ node: ScratchNode) throws -> [UInt64] {
        try StoreReader(node.directory("gateway.db")).devices(after: 0, limit: 10).map(\.id.number)
    }

    private func sweep(_ node: GatewayNode) {
        node.sweep()
        node.settle()
    }

    @Test func `a device unseen for 90 days is gone, and its token 410`() throws {
        let node = try ScratchNode(limits())
        node.register("org.example.App")
        try age(node)
        // It is there.
        sweep(node.node)
        #expect(try devices(node) == [1])
        node.node.disconnected(LinkID(1))
        sweep(node.node)
        #expect(try devices(node) == [])
        #expect(node.node.driver.expiredDevices == 1)
        let token = try #require(node.node.seal.token(Array(node.links.tokens[0].utf8)[...]))
        let gateway = node.node.gateway
        let answer = gateway.refusal(of: token)
        guard case .refused(.unregistered, .some) = answer else {
            Issue.record("\(answer.map { "\($0)" } ?? "taken")")
            return
        }
    }

    @Test func `one that was seen within them stays`() throws {
        let node = try ScratchNode(limits())
        node.node.disconnected(LinkID(1))
        sweep(node.node)
        #expect(try devices(node) == [1])
    }

    @Test func `nobody is gone in the first day of a gateway`() throws {
        let node = try ScratchNode()
        node.node.disconnected(LinkID(1))
        try age(node)
        sweep(node.node)
        #expect(try devices(node) == [1])
    }

    @Test func `however many are gone, all go`() throws {
        let node = try ScratchNode(limits())
        try Database(path: node.directory("gateway.db"), mode: .create).execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1009)
            INSERT INTO devices SELECT i, randomblob(32), 0, 0 FROM n
            """
        )
        sweep(node.node)
        #expect(try devices(node) == [1])
        #expect(node.node.driver.expiredDevices == 1000)
    }

    @Test func `to come back is to be seen`() throws {
        let node = try ScratchNode(limits())
        try age(node)
        // Another gateway of the same file, which knows what it says.
        let next = try ScratchNode.node(node.directory, node.disk, limits())
        defer { withExtendedLifetime(node) {} }
        next.identify([UInt8](repeating: 1, count: 32)) { who in
            next.connected(who?.device ?? DeviceID(0), LinkID(1), DeviceCondition())
        }
        next.settle()
        next.disconnected(LinkID(1))
        sweep(next)
        #expect(try devices(node) == [1])
    }

    @Test func `devices of an older file are taken for seen; what it keeps gets places`() throws {
        let scratch = ScratchDirectory()
        let old = try Database(path: scratch("gateway.db"), mode: .create)
        try old.execute(
            """
            CREATE TABLE devices (
                id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, since INTEGER NOT NULL) STRICT;
            CREATE TABLE apps (number INTEGER PRIMARY KEY, bundle TEXT NOT NULL UNIQUE) STRICT;
            CREATE TABLE registrations (
                device INTEGER NOT NULL, app INTEGER NOT NULL, generation INTEGER NOT NULL,
                active INTEGER NOT NULL, ended BLOB NOT NULL,
                PRIMARY KEY (device, app)) STRICT, WITHOUT ROWID;
            CREATE TABLE slots (
                device INTEGER NOT NULL, app INTEGER NOT NULL, number INTEGER NOT NULL,
                expiration INTEGER NOT NULL, type INTEGER NOT NULL, priority INTEGER NOT NULL,
                silent INTEGER NOT NULL, collapse BLOB NOT NULL, payload BLOB NOT NULL,
                UNIQUE (device, app)) STRICT;
            CREATE INDEX slots_by_expiration ON slots (expiration);
            CREATE TABLE log (
                number INTEGER PRIMARY KEY, device INTEGER NOT NULL, app INTEGER NOT NULL,
                type INTEGER NOT NULL, priority INTEGER NOT NULL, size INTEGER NOT NULL,
                assumed INTEGER NOT NULL, id BLOB NOT NULL, provider TEXT NOT NULL,
                events BLOB NOT NULL) STRICT;
            INSERT INTO devices VALUES (1, randomblob(32), 0), (2, CAST('removed 2' AS BLOB), 0);
            INSERT INTO slots VALUES
                (1, 1, 10, 9000000000000000000, 1, 10, 0, CAST('a' AS BLOB), x'7B7D'),
                (1, 2, 11, 9000000000000000000, 12, 10, 0, CAST('b' AS BLOB), x'007D');
            """
        )
        try old.setApplicationID(0x4F66_7367)
        try old.setUserVersion(1)
        // Not on a disk of faults, which would have to outlive it.
        let node = try GatewayNode(
            try EventLoop(),
            try SQLiteStorage(scratch("gateway.db")),
            limits(),
            seal: try SyntheticTokens(key: [UInt8](repeating: 5, count: 32)),
            identity: 0
        )
        sweep(node)
        let reader = try StoreReader(scratch("gateway.db"))
        #expect(try reader.devices(after: 0, limit: 10).map(\.id.number) == [1])
        #expect(try reader.largestNumbers().device == 2)
        let stored = try reader.record(of: DeviceID(1)).stored
        #expect(stored.map(\.app.number) == [1, 2])
        #expect(stored.map(\.place) == [0, 1])
        #expect(stored.map(\.number.number) == [10, 11])
        let message = try reader.push(in: SlotKey(DeviceID(1), AppNumber(2), place: 1))
        #expect(message?.type == .webpush)
        #expect(message?.payload == [0, 0x7D])
    }
}
