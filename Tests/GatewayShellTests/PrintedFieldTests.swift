import CommandTable
import GatewayShell
import Linux
import TestKit
import Testing
import Vocabulary

/// Programs rely on the names of fields: each stands in docs/gateway.md.
struct PrintedFieldTests {
    private static let root =
        #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(3).joined(separator: "/")

    /// The fields of the table, by command.
    private static func documented() throws -> [String: Set<String>] {
        var fields: [String: Set<String>] = [:]
        for line in try Files.text(root + "/docs/gateway.md").split(separator: "\n") {
            let cells = line.split(separator: " | ")
            guard cells.count >= 3, cells[0].hasPrefix("| `"), cells[0].hasSuffix("`"),
                cells[1].hasPrefix("`"), cells[1].hasSuffix("`")
            else { continue }
            let command = String(cells[0].dropFirst(3).dropLast())
            fields[command, default: []].insert(String(cells[1].dropFirst().dropLast()))
        }
        return fields
    }

    private static func fields(_ value: Value) -> Set<String> {
        if let list = value.listValue { return list.reduce([]) { $0.union(fields($1)) } }
        let entries = value.mapValue?.entries ?? []
        return entries.reduce([]) { $0.union([$1.key]).union(fields($1.value)) }
    }

    @Test func `each command with JSON is in the document, and its fields are all that it prints`()
        throws
    {
        let documented = try Self.documented()
        let commands = GatewayProgram.table.commands.filter(\.printsData).map(\.name)
        #expect(Set(documented.keys) == Set(commands).subtracting(["stats"]))
        let gateway = try ScratchGateway()
        var printed: [String: Set<String>] = [:]
        func add(_ command: String, _ text: String) throws {
            let fields = Self.fields(try ValueJSON.parse(text))
            #expect(!fields.isEmpty, "\(command): \(text)")
            printed[command, default: []].formUnion(fields)
        }
        func run(_ words: String...) throws {
            let line = [ScratchGateway.program] + words
            let outcome = try Command(line + ["--json", "--directory=\(gateway.directory.path)"])
                .run()
            #expect(outcome.succeeded, "\(words) \(outcome)")
            try add(words[0], outcome.output)
        }
        let created = try Command(
            ScratchGateway.program,
            "init",
            "--json",
            "--host=localhost",
            "--directory=\(gateway.directory("second"))"
        ).run()
        try add("init", created.output)
        try gateway.start()
        let device = try ScratchDevice(gateway, options: ["--web-push", "--json"])
        try device.wait(for: "\"endpoint\"")
        let lines = try device.text.split(separator: "\n").compactMap {
            try? ValueJSON.parse(String($0))
        }
        let tokens = lines.compactMap { $0["token"]?.stringValue }
        let token = try #require(tokens.first)
        let host = "--host=localhost:\(gateway.port)"
        try run("send", "--topic=\(ScratchGateway.topic)", "--alert=x", host, token)
        try device.wait(for: "\"payload\"")
        try device.end()
        for line in try device.text.split(separator: "\n") { try add("device", String(line)) }
        try run("keys", "add", "LATE000001", "--team=TEAM000001")
        try run("keys")
        try run("keys", "certificate", "org.example.Chat")
        let fingerprint = String(repeating: "0", count: 64)
        try run("keys", "revoke", fingerprint)
        try run("keys", "revoked")
        try run("topics")
        try run("topics", "add", "org.example.Mail", "--team=TEAM000001")
        try run("topics", "add", "org.example.Mail", "--team=TEAM000002")
        try run("devices")
        try Wait.until("the push in the log") {
            try gateway.run("log", "--json").output.contains("uniqueId")
        }
        try run("log")
        try run("backup", gateway.directory("backup.tar"))
        for (command, fields) in printed {
            let unknown = fields.subtracting(documented[command] ?? [])
            #expect(unknown == [], "\(command) prints what docs/gateway.md does not have")
        }
    }

    @Test func `what is done is said in JSON, too`() throws {
        let gateway = try ScratchGateway()
        func run(_ words: String...) throws -> Value {
            let line = [ScratchGateway.program] + words
            return try ValueJSON.parse(
                try Command(line + ["--json", "--directory=\(gateway.directory.path)"]).run().output
            )
        }
        let key = try run("keys", "add", "LATE000001", "--team=TEAM000001")
        let path = gateway.paths.providerKey("LATE000001")
        #expect(key == ["id": "LATE000001", "key": .string(path)])
        let fingerprint = String(repeating: "0", count: 64)
        let revoked = try run("keys", "revoke", fingerprint)
        #expect(revoked["fingerprint"] == .string(fingerprint))
        let at = try #require(revoked["revoked"]?.stringValue)
        #expect(WallTime(rfc3339: at) != nil, "\(at)")
        #expect(try run("keys", "revoked")[0] == revoked)
    }
}
