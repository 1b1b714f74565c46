import GatewayShell
import Glibc
import Linux
import TestKit
import Testing
import Vocabulary

/// The commands of the README's section about the gateway, run as they stand there.
struct ReadmeTests {
    private let home = ScratchDirectory()
    private let topic = "org.example.Chat"

    /// The lines of the section that a reader types.
    private static func commands() throws -> [String] {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let text = try Files.text(root + "/README.md")
        let section = try #require(text.split(separator: "\n## A push gateway").dropFirst().first)
        return section.prefix { $0 != "#" }.split(separator: "\n")
            .filter { $0.hasPrefix("    ") }
            .map { String($0.dropFirst(4)) }
    }

    /// In a shell of somebody who has the programs in `PATH` and nothing else.
    private func shell(_ line: String) -> Command {
        var command = Command("/bin/sh", "-c", line)
        let path = CurrentProcess.environment("PATH") ?? "/usr/bin:/bin"
        command.environment = Command.cleanEnvironment([
            "HOME": home.path, "PATH": Products.directory + ":" + path,
        ])
        return command
    }

    /// Two that nobody has: the usual ones may be somebody's. No system gives out such low ones.
    private static func freePorts() throws -> [UInt16] {
        var found: [UInt16] = []
        var port = 20_000 + UInt16(CurrentProcess.pid % 10_000)
        while found.count < 2 {
            let address = InternetAddress(host: "127.0.0.1", port: port)
            if (try? InternetListener(address)) != nil { found.append(port) }
            port += 1
        }
        return found
    }

    @Test func `its three commands make a gateway, send a push and show its log`() throws {
        let commands = try Self.commands()
        try #require(commands.count == 3)
        let ports = try Self.freePorts()
        let place = GatewayPaths(home(".local/state/offstage-gateway"))
        try Files.makeDirectory(place.directory, permissions: 0o700, parents: true)
        let settings = "listen = 127.0.0.1:\(ports[0])\ndevices = 127.0.0.1:\(ports[1])\n"
        try Files.replace(place.settings, with: settings)
        let serving = try shell(commands[0]).start(logging: home("serve"))
        defer {
            // The shell, and what it runs.
            kill(-serving.pid, SIGKILL)
            _ = try? serving.wait(block: true)
            try? LockFile(place.lock).waitUntilFree(0)
        }
        try Wait.until(file: home("serve"), "it serves") { $0.contains("serving providers") }
        let device = try shell("exec offstage-gateway device \(topic)")
            .start(logging: home("device"))
        defer {
            try? device.send(SIGKILL)
            _ = try? device.wait(block: true)
        }
        let start = "token \(topic) "
        let said = try Wait.until(file: home("device"), "a token") {
            $0.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                .contains { $0.hasPrefix(start) }
        }
        let line = try #require(said.split(separator: "\n").first { $0.hasPrefix(start) })
        let send = commands[1].replacing("TOKEN", with: line.dropFirst(start.count))
        #expect(send != commands[1], "the reader puts a token in")
        let sent = try shell(send).run()
        #expect(sent.succeeded && sent.output.hasPrefix("accepted: "), "\(sent)")
        try Wait.until(file: home("device"), "the push") { $0.contains("Hello") }
        let id = try #require(sent.output.split { $0.isWhitespace }.last)
        // Entries appear within a second.
        var log = try shell(commands[2]).run()
        while log.succeeded, !log.output.contains("delivered") {
            log = try shell(commands[2]).run()
        }
        #expect(log.succeeded && log.output.contains("\(id)  \(topic)"), "\(log)")
    }
}
