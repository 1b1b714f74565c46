import Foundation
import Linux
import TestKit

/// A web server on the loopback interface, with the files that a test puts into it.
final class WebServer {
    private let folder = ScratchDirectory()
    private let process: PidFD
    private let port: String
    private var version = 0

    init() throws {
        try Files.makeDirectory(folder("files"), permissions: 0o700)
        var command = Command(
            "/usr/bin/python3",
            "-u",
            "-m",
            "http.server",
            "--bind",
            "127.0.0.1",
            "--directory",
            folder("files"),
            "0"
        )
        command.directory = folder.path
        process = try command.start(logging: folder("log"))
        let words = try Wait.until(file: folder("log"), "the server's port") {
            $0.contains("port ") && $0.contains("\n")
        }
        .split(separator: " ")
        guard let place = words.firstIndex(of: "port"), place + 1 < words.count else {
            throw DidNotHappen(description: "a port in \(words)")
        }
        port = String(words[place + 1])
    }

    deinit {
        try? process.send(Signal.kill)
        _ = try? process.wait(block: true)
    }

    func address(of name: String) -> String { "http://127.0.0.1:\(port)/\(name)" }

    /// How often it answered with a status, such as 304.
    func answers(_ status: Int) -> Int {
        ((try? folder.read("log")) ?? "").split(separator: "\n")
            .count { $0.contains("\" \(status) ") }
    }

    /// A file from now on; each is told to be newer than the one before.
    func put(_ name: String, _ text: String) throws {
        version += 1
        let path = try folder.write(Files.name(of: name) + ".new", text)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000 + Double(version) * 60)],
            ofItemAtPath: path
        )
        try Files.rename(path, to: folder("files/" + name))
    }

    func makeDirectory(_ name: String) throws {
        try Files.makeDirectory(folder("files/" + name))
    }

    func remove(_ name: String) throws { try Files.remove(folder("files/" + name)) }
}
