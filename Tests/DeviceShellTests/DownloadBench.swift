import Linux
import TestKit
import Testing
import Vocabulary

/// Downloads with everything real: command line, daemon, network process, and a server that
/// misbehaves. What arrives is compared with what the server had, byte by byte.
final class DownloadBench {
    let server: FaultServer
    let daemon: ScratchDaemon
    static let size: Int64 = 1 << 20

    /// Of a server over TLS, which the daemon trusts, with an identity.
    init(as identity: FaultIdentity? = nil, settings: String = "", options: [String] = []) throws {
        server = try identity.map { try FaultServer(as: $0) } ?? FaultServer()
        daemon = try ScratchDaemon(
            options: options,
            settings: "pause-after-start=0\n" + settings
        )
        if let identity {
            daemon.environment["SSL_CERT_FILE"] = try daemon.scratch.write(
                "authority.pem",
                identity.authority
            )
        }
        server.set("/file", .init(VersionedObject(version: 1, size: Self.size)))
        try daemon.start()
    }

    var url: String { server.url("/file") }

    func path(_ name: String) -> String { daemon.scratch("home/" + name) }

    func names(in directory: String = "") throws -> [String] {
        try Files.list(path(directory)).sorted()
    }

    // MARK: What the user does

    @discardableResult
    func offstage(_ words: String...) throws -> Command.Outcome { try daemon.offstage(words) }

    @discardableResult
    func download(
        _ options: [String],
        from path: String = "/file",
        succeeds: Bool = true
    ) throws -> Command.Outcome {
        let outcome = try daemon.offstage(["download"] + options + [server.url(path)])
        #expect(outcome.succeeded == succeeds, "\(outcome.output)\(outcome.errors)\(daemon.log)")
        return outcome
    }

    /// Its number.
    func enqueue(_ options: [String] = [], from path: String = "/file") throws -> String {
        let outcome = try download(options, from: path)
        return String(outcome.output.dropFirst("transfer ".count).prefix { $0 != ":" })
    }

    func state(of id: String) throws -> Value? { try daemon.transfer(id) }

    func waitForEnd(_ id: String) throws {
        try Wait.until("transfer \(id) ends") { try state(of: id)?["ended"] != nil }
    }

    /// Its attempt has ended, too: what that has brought is stored.
    func waitUntilPaused(_ id: String) throws {
        try Wait.until("transfer \(id) is paused") {
            let state = try state(of: id)
            let sentence = state?["sentence"]?.stringValue ?? ""
            return state?["state"] == "paused" && sentence.hasPrefix("transfer \(id) is paused")
        }
    }

    // MARK: Processes

    func networkProcess() throws -> ProcessIdentity {
        guard let process = try daemon.networkProcess() else {
            throw DidNotHappen(description: "a network process\n\(daemon.log)")
        }
        return process
    }

    /// The most memory that it has ever had, in bytes.
    func peakMemory(of process: ProcessIdentity) throws -> Int64 {
        let status = try Files.text("/proc/\(process.pid)/status").split(separator: "\n")
        guard let line = status.first(where: { $0.hasPrefix("VmHWM:") }),
            let number = line.split(separator: " ").dropLast().last.flatMap({ Int64($0) })
        else { throw DidNotHappen(description: "its memory in \(status)") }
        return number << 10
    }

    // MARK: What arrived

    func expectVersion(_ version: UInt64) throws {
        try expect(VersionedObject(version: version, size: Self.size))
    }

    func expect(_ object: VersionedObject, at name: String = "file") throws {
        let bytes = try Files.read(path(name), limit: 1 << 26)
        #expect(bytes.count == object.size)
        // Without showing how millions of bytes differ.
        let isSame = bytes == object.all
        #expect(isSame, "it is not version \(object.version)")
    }
}
