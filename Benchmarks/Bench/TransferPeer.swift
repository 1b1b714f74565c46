import Linux
import TestKit
import Vocabulary

/// What others take for the same files.
struct TransferPeer {
    /// Two processes in C that do the least of what the daemon does (`Benchmarks/BarePair`).
    static let pair = "offstage-bench-pair"

    let name: String
    /// Files go there; gone with this value.
    private let folder: ScratchDirectory
    private let certificate: String

    struct Cost {
        var seconds: Double
        var processor: Double
    }

    /// A file that is sent to a URL.
    typealias Upload = (file: String, url: String)

    /// As many connections at once as the daemon has to one host.
    private static let connections = "6"

    /// `parent`: of its directory.
    init(_ name: String, in parent: String, trusting certificate: String) throws {
        (self.name, self.certificate) = (name, certificate)
        folder = ScratchDirectory(in: parent)
    }

    /// `syncs`: what was written is durable when it ends.
    func run(_ urls: [String], syncs: Bool) throws -> Cost {
        try run(list(urls), urls.count, syncs: syncs) {
            try Files.list(folder("files")).count
        }
    }

    /// Only curl can. `arrived`: how many the server has.
    func run(_ uploads: [Upload], arrived: () throws -> Int) throws -> Cost {
        let list = uploads.map {
            "url = \"\($0.url)\"\nupload-file = \"\($0.file)\"\n"
        }.joined()
        return try run(list, uploads.count, syncs: false, arrived: arrived)
    }

    private func run(
        _ list: String,
        _ count: Int,
        syncs: Bool,
        arrived: () throws -> Int
    ) throws -> Cost {
        folder.write(list, to: "list")
        try Files.makeDirectory(folder("files"), permissions: 0o700)
        var command = Command(words(areMany: count > 1))
        command.directory = folder("files")
        var processor = 0.0
        let nanoseconds = try timed {
            processor = try Self.runToEnd(command, folder("log"))
            if syncs { try BenchWeb.run(["sync", "-f", folder("files")]) }
        }
        let files = try arrived()
        if name == Self.pair { try BenchWeb.run(["sh", "-c", "rm -f \(folder("store"))*"]) }
        guard files == count else {
            let log = (try? folder.read("log")) ?? ""
            throw DidNotHappen(description: "\(count) files, not \(files): \(log.suffix(500))")
        }
        // See `TransferFigures.measure`.
        if syncs, count > 1 {
            try Files.rename(folder("files"), to: folder("files-\(Clocks.boot().nanoseconds)"))
        } else {
            try Files.removeTree(folder("files"))
        }
        try BenchWeb.run(["sync", "-f", folder.path])
        return Cost(seconds: nanoseconds / 1e9, processor: processor)
    }

    private func list(_ urls: [String]) -> String {
        guard name == "curl" else { return urls.joined(separator: "\n") + "\n" }
        return urls.map {
            "url = \"\($0)\"\noutput = \"\(Files.name(of: $0))\"\n"
        }.joined()
    }

    private func words(areMany: Bool) -> [String] {
        if name == Self.pair {
            let program = Products.path(of: name)
            return [program, folder("store"), folder("list"), Self.connections, certificate]
        }
        if name == "curl" {
            let parallel = ["--parallel", "--parallel-max", Self.connections]
            return ["curl", "-sS", "--fail", "--cacert", certificate, "-K", folder("list")]
                + (areMany ? parallel : [])
        }
        return [
            "aria2c", "-q", "--no-conf", "--ca-certificate", certificate,
            "--file-allocation=none", "-j", Self.connections, "-x", "1", "-i", folder("list"),
        ]
    }

    /// Its processor time, in seconds to the clock tick.
    private static func runToEnd(_ command: Command, _ log: String) throws -> Double {
        let process = try command.start(logging: log)
        try Wait.until(readable: process.descriptor.number, "end of \(command.arguments[0])")
        let used = ProcessStatus(of: process.pid)?.processorTime ?? 0
        guard try process.wait(block: true) == .exited(0) else {
            let text = (try? Files.text(log)) ?? ""
            throw DidNotHappen(description: "\(command.arguments[0]): \(text.suffix(500))")
        }
        return Double(used) / 1e9
    }
}
