import DeviceLink
import GatewayCore
import GatewayShell
import Linux
import SQLite
import TLS
import TestKit
import Testing
import Vocabulary

/// A backup is whole, and what is restored from it serves on.
struct BackupTests {
    private let scratch = ScratchDirectory()

    private func send(_ gateway: ScratchGateway, _ token: String, _ text: String) throws {
        let outcome = try gateway.run(
            "send",
            "--topic=\(ScratchGateway.topic)",
            "--alert=\(text)",
            "--host=localhost:\(gateway.port)",
            token
        )
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    /// Those of the tokens for which a push is kept.
    private func stored(_ tokens: [String], at gateway: ScratchGateway) throws -> [String] {
        let reader = try StoreReader(gateway.paths.store)
        let seal = try gateway.sealing()
        return try tokens.filter { token in
            let known = try #require(seal.token(Array(token.utf8)[...]))
            return try reader.push(in: SlotKey(known.device, known.app)) != nil
        }
    }

    @Test func `a gateway that is pushed to is backed up, and serves on from the backup`() throws {
        let gateway = try ScratchGateway()
        let others = try gateway.register(600)
        try gateway.start()
        var device = try ScratchDevice(gateway)
        let token = try device.token()
        try device.end()
        try send(gateway, token, "Kept")
        let early = try LoadSender(gateway, Array(others[..<100])).run(until: 1_000) {}
        #expect(early.count == 100)
        var backup: PidFD?
        let late = try LoadSender(gateway, Array(others[100...])).run(until: 50) {
            backup = try? Command(
                ScratchGateway.program,
                "backup",
                "--directory=\(gateway.directory.path)",
                scratch("backup.tar")
            ).start(logging: scratch("log"))
        }
        #expect(late.count == 500)
        guard let process = backup.take() else { throw DidNotHappen(description: "a backup") }
        try Wait.until(readable: process.descriptor.number, "the end of the backup")
        #expect(try process.wait(block: true) == .exited(0), "\(scratch.bytes(of: "log") ?? [])")
        gateway.kill()

        let restored = try ScratchGateway(unpacking: scratch("backup.tar"))
        #expect(try stored(early, at: restored) == early)
        try restored.start()
        device = try ScratchDevice(restored)
        #expect(try device.token() == token)
        try device.wait(for: "Kept")
        try send(restored, token, "Again")
        try device.wait(for: "Again")
        try device.end()
    }

    @Test func `a device of after the backup has no token that another one gets`() throws {
        let gateway = try ScratchGateway()
        #expect(try gateway.run("backup", scratch("new.tar")).succeeded)
        let known = try gateway.register(1)[0]
        #expect(try gateway.run("backup", scratch("backup.tar")).succeeded)
        var given = Set(try gateway.register(3))
        // Twice the same, as after a second accident.
        for _ in 0..<2 {
            let restored = try ScratchGateway(unpacking: scratch("backup.tar"))
            try Database(path: restored.paths.store, mode: .create)
                .execute("UPDATE devices SET seen = 0")
            try restored.start()
            // They had no gateway to be seen by.
            let devices = try StoreReader(restored.paths.store).devices(after: 0, limit: 10)
            #expect(devices.count == 1 && devices[0].seen > WallTime(nanoseconds: 1 << 60))
            for token in given {
                let answer = try restored.push(to: token)
                #expect(["BadDeviceToken", "DeviceTokenNotForTopic"].contains(answer.reason))
            }
            #expect(try restored.push(to: known) == Outcome(200))
            restored.kill()
            let next = Set(try restored.register(3) + restored.register(1, topic: "org.other"))
            #expect(next.count == 4 && given.isDisjoint(with: next))
            given.formUnion(next)
            let apps = try StoreReader(restored.paths.store).apps()
            #expect(apps.map(\.1) == [ScratchGateway.topic, "org.other"])
            #expect(apps[1].0.number > 1_700_000_000)
        }
    }

    @Test func `a clock from before the backup is refused, and nothing is lost by it`() throws {
        let gateway = try ScratchGateway()
        _ = try gateway.register(1)
        #expect(try gateway.run("backup", scratch("backup.tar")).succeeded)
        let restored = try ScratchGateway(unpacking: scratch("backup.tar"))
        let store = try Database(path: restored.paths.store, mode: .create)
        let made = try store.integer("SELECT made FROM backup") ?? 0
        try store.execute("UPDATE backup SET made = made + 3600000000000")
        let outcome = try restored.run("serve")
        #expect(!outcome.succeeded && outcome.errors.contains("clock"), "\(outcome.errors)")
        try store.execute("UPDATE backup SET made = \(made)")
        try restored.start()
        #expect(try store.integer("SELECT count(*) FROM devices") == 2)
    }

    @Test func `a device of before the backup is asked for all its apps`() throws {
        let gateway = try ScratchGateway()
        try gateway.start()
        let key = try Ed25519PrivateKey()
        _ = try LinkedDevice(gateway, key).token()
        func isNew(_ gateway: ScratchGateway, _ key: Ed25519PrivateKey) throws -> Bool {
            try LinkedDevice(gateway, key).wait { event -> Bool? in
                if case .online(isNew: let new) = event { new } else { nil }
            }
        }
        #expect(try !isNew(gateway, key))
        #expect(try gateway.run("backup", scratch("backup.tar")).succeeded)
        let restored = try ScratchGateway(unpacking: scratch("backup.tar"))
        let other = try Ed25519PrivateKey()
        for round in 0..<2 {
            try restored.start()
            #expect(try isNew(restored, key))
            // One that came later is known for good.
            #expect(try isNew(restored, other) == (round == 0))
            restored.kill()
        }
    }

    @Test func `it says where it is, how large, and what is in it`() throws {
        let gateway = try ScratchGateway()
        _ = try gateway.register(1)
        gateway.directory.write("mine", to: "notes.txt")
        let file = scratch("backup.tar")
        let text = try gateway.run("backup", file)
        let size = try #require(Files.status(file)).size
        #expect(text.output.hasPrefix("\(file): \(size) bytes, 9 files\n"), "\(text.output)")
        #expect(text.output.contains("notes.txt"))
        #expect(Files.status(file)?.permissions == 0o600)
        let again = try gateway.run("backup", "--force", "--json", file)
        let report = try ValueJSON.parse(again.output)
        #expect(report["file"]?.stringValue == file)
        #expect(report["bytes"]?.integerValue == size)
        let names = (report["files"]?.listValue ?? []).compactMap(\.stringValue)
        #expect(report["leftOut"] == ["notes.txt"])
        let listed = try Command("tar", "-tf", file).run()
        #expect(listed.output.split(separator: "\n").map(String.init) == names)
        for name in names where name != "gateway.db" {
            let unpacked = try Command("tar", "-xOf", file, name).run()
            #expect(try unpacked.output == gateway.directory.read(name), "\(name)")
        }
        #expect(scratch.entries == ["backup.tar"])
        // The same, for another program.
        let shell = "\"$0\" backup --directory=\"$1\" - | tar -tf -"
        let piped = Command("sh", "-c", shell, ScratchGateway.program, gateway.paths.directory)
        #expect(try piped.run().output == listed.output)
    }

    @Test func `what cannot be backed up is said, and nothing is left`() throws {
        let gateway = try ScratchGateway()
        let file = scratch("backup.tar")
        scratch.write("old", to: "backup.tar")
        func fails(_ path: String, _ said: String, _ status: Int32 = 1, of place: String? = nil)
            throws
        {
            let place = place ?? gateway.paths.directory
            let outcome = try Command(
                [ScratchGateway.program, "backup", "--directory=\(place)", path]
            ).run()
            #expect(outcome.status == .exited(status) && outcome.output == "")
            #expect(outcome.errors.contains(said), "\(outcome.errors)")
        }
        try fails(file, "--force")
        try fails(scratch("no/backup.tar"), "there is no directory \"\(scratch("no"))\"")
        try fails(scratch.path, "is not a file")
        try fails(scratch("b.tar"), "there is no gateway", 3, of: scratch("empty"))
        _ = try gateway.register(1)
        try Database(path: gateway.paths.store, mode: .create).setUserVersion(99)
        try fails(scratch("b.tar"), "newer")
        #expect(scratch.entries == ["backup.tar"])
        #expect(try scratch.read("backup.tar") == "old")
    }

    @Test(.enabled(if: Command.runsAsRoot, "only root can play others"))
    func `who may not read the gateway, or write there, is told so`() throws {
        let gateway = try ScratchGateway()
        let open = ScratchDirectory(owner: Command.ordinaryUser)
        func outcome(_ words: String...) throws -> Command.Outcome {
            var command = Command([ScratchGateway.program] + words)
            command.user = Command.ordinaryUser
            return try command.run()
        }
        let place = "--directory=\(gateway.paths.directory)"
        let unread = try outcome("backup", place, open("backup.tar"))
        #expect(unread.errors.contains("no permission to read"), "\(unread)")
        #expect(!unread.succeeded && open.entries == [])
        #expect(try outcome("init", "--directory=\(open("g"))").succeeded)
        let unwritten = try outcome("backup", "--directory=\(open("g"))", scratch("backup.tar"))
        #expect(unwritten.errors.contains("no permission to write in"), "\(unwritten)")
        #expect(!unwritten.succeeded && scratch.entries == [])
    }

    @Test func `an older file is backed up as it is, a pair that does not fit with a warning`()
        throws
    {
        let gateway = try ScratchGateway()
        _ = try gateway.register(1)
        try Database(path: gateway.paths.store, mode: .create).setUserVersion(1)
        try Files.replace(gateway.paths.certificateKey, with: try P256PrivateKey().pem())
        let outcome = try gateway.run("backup", scratch("backup.tar"))
        #expect(outcome.succeeded && outcome.output.contains("do not match"), "\(outcome)")
        let restored = try ScratchGateway(unpacking: scratch("backup.tar"))
        #expect(try Database(path: restored.paths.store, mode: .readOnly).userVersion() == 1)
    }

    @Test(arguments: [1, 40, 90])
    func `where there is no room nothing is left`(_ blocks: Int) throws {
        let gateway = try ScratchGateway()
        _ = try gateway.register(50)
        try gateway.start()
        // Each block has 512 bytes. The limit stands for a full disk: it needs no disk of our own.
        let shell = "trap '' XFSZ; ulimit -f \(blocks); exec \"$0\" \"$@\""
        let words = ["backup", "--directory=\(gateway.paths.directory)", scratch("backup.tar")]
        let outcome = try Command(["sh", "-c", shell, ScratchGateway.program] + words).run()
        #expect(outcome.status == .exited(1), "\(outcome)")
        #expect(scratch.entries == [])
    }

    @Test func `a signal ends it, and nothing is left`() throws {
        let gateway = try ScratchGateway()
        // More than a pipe takes.
        _ = try gateway.register(300)
        var pipe = try Pipe()
        let errors = try FileDescriptor(opening: gateway.directory("errors"), [.writing, .create])
        var program = Program(
            ScratchGateway.program,
            arguments: [
                ScratchGateway.program, "backup", "--directory=\(gateway.paths.directory)", "-",
            ],
            environment: Command.cleanEnvironment(["TMPDIR": scratch.path])
        )
        program.output = pipe.writing?.number
        program.error = errors.number
        let process = try program.start()
        pipe.writing = nil
        try Wait.until(readable: pipe.reading?.number ?? -1, "the archive begins")
        #expect(scratch.entries.count == 1)
        try process.send(Signal.terminate)
        try Wait.until(readable: process.descriptor.number, "the end of the backup")
        #expect(try process.wait(block: true) == .exited(1))
        #expect(try gateway.directory.read("errors").contains("SIGTERM"))
        #expect(scratch.entries == [])
    }

    @Test func `tar reads sizes and owners of any length`() throws {
        let entry = ArchiveFormat.Entry(
            "gateway.db",
            size: 9 << 30,
            permissions: 0o600,
            user: 3_000_000_000,
            group: 7,
            modified: 1_700_000_000
        )
        do {
            let file = try FileDescriptor(opening: scratch("a.tar"), [.writing, .create])
            try file.writeAll(ArchiveFormat.header(entry).span)
            // A hole: nothing of it is on the disk.
            try file.truncate(to: 512 + entry.size + Int64(ArchiveFormat.end.count))
        }
        let listed = try Command("tar", "-tvf", scratch("a.tar"), "--numeric-owner").run()
        #expect(listed.succeeded && listed.errors == "")
        let words = listed.output.split { $0 == " " || $0 == "\n" }.map(String.init)
        #expect(words[..<3] == ["-rw-------", "3000000000/7", "\(9 << 30)"])
        #expect(words.last == "gateway.db")
    }
}
