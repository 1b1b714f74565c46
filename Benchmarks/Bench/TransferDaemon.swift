import AppProtocol
import Linux
import SystemBus
import TestKit
import Vocabulary

/// A daemon whose state and downloads lie in one file system.
final class TransferDaemon {
    let daemon: ScratchDaemon
    private(set) var bus: Bus

    /// `parent`: of its directory.
    init(in parent: String, trusting certificate: String) throws {
        daemon = try ScratchDaemon(in: parent)
        daemon.environment["SSL_CERT_FILE"] = certificate
        try daemon.start()
        bus = try Bus.connect(toSocket: daemon.socket)
        try Files.makeDirectory(directory, permissions: 0o700)
        try set(network: true)
    }

    /// Where the files go.
    var directory: String { daemon.scratch("files") }

    func path(_ name: String) -> String { directory + "/" + name }

    /// After it was killed; milliseconds until it is ready.
    @discardableResult
    func start() throws -> Double {
        let time = try timed { try daemon.start() } / 1e6
        bus = try Bus.connect(toSocket: daemon.socket)
        return time
    }

    // MARK: Calls

    func set(network isOn: Bool) throws { try ask("Set", ["network", isOn ? "on" : "off", [:]]) }

    /// All in one call; their numbers.
    @discardableResult
    func enqueue(_ urls: [String]) throws -> [Int64] {
        let files = urls.map { Value.map(["url": .string($0)]) }
        return try enqueue("Download", files, ["directory": .string(directory)])
    }

    /// The same of files to send.
    func enqueue(_ uploads: [TransferPeer.Upload]) throws -> [Int64] {
        let files = uploads.map { Value.map(["url": .string($0.url), "file": .string($0.file)]) }
        return try enqueue("Upload", files, [:])
    }

    private func enqueue(_ method: String, _ files: [Value], _ options: Value) throws -> [Int64] {
        let answer = try ask(method, [.list(files), options])
        return answer["transfers"]?.listValue?.compactMap(\.integerValue) ?? []
    }

    /// A call takes so many at the most.
    private static let mostInCall = 1000

    func change(_ action: Control1.TransferAction, _ ids: [Int64]) throws {
        var rest = ids[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.mostInCall).map { Value.integer($0) }
            try ask("ChangeTransfers", [.string(action.rawValue), .list(some)])
            rest = rest.dropFirst(Self.mostInCall)
        }
    }

    /// The number of the newest line of the history, which has one for each transfer that ended.
    func newestLine() throws -> Int64 {
        let lines = try ask("History", [["limit": 1]]).listValue ?? []
        return lines.first?["id"]?.integerValue ?? 0
    }

    /// Until so many have ended since the history had that line, and all of that is committed.
    func wait(for count: Int, since line: Int64) throws {
        while try newestLine() < line + Int64(count) { pause(milliseconds: 5) }
    }

    /// What `enqueue` asks for is held until all of it is enqueued. Seconds from then until all of
    /// it has ended and is committed.
    func secondsToEnd(_ enqueue: () throws -> [Int64]) throws -> Double {
        try set(network: false)
        let ids = try enqueue()
        try change(.pause, ids)
        try set(network: true)
        let line = try newestLine()
        let time = try timed {
            try change(.resume, ids)
            try wait(for: ids.count, since: line)
        }
        try checkFinished(ids)
        return time / 1e9
    }

    func waitUntilEnded(_ id: Int64) throws {
        while try !reports([id]).allSatisfy({ $0["ended"] != nil }) { pause(milliseconds: 20) }
    }

    /// All must have their files.
    func checkFinished(_ ids: [Int64]) throws {
        for report in try reports(ids) where report["state"] != "finished" {
            throw DidNotHappen(description: "a finished transfer: \(report)\n\(daemon.log)")
        }
    }

    private func reports(_ ids: [Int64]) throws -> [Value] {
        let wanted = Set(ids)
        return (try ask("Transfers").listValue ?? []).filter {
            wanted.contains($0["id"]?.integerValue ?? 0)
        }
    }

    /// They are listed no longer, and their files are gone.
    func clear() throws {
        try ask("ChangeTransfers", ["forget", []])
        try Files.removeTree(directory)
        try Files.makeDirectory(directory, permissions: 0o700)
        try BenchWeb.run(["sync", "-f", directory])
    }

    @discardableResult
    private func ask(_ method: String, _ arguments: [Value] = []) throws -> Value {
        let answers = try bus.call(
            Target(Control1.busName, Control1.path, Control1.name, method),
            arguments,
            signature: Control1.interface.method(method)?.inputSignature ?? "",
            timeout: .minutes(5)
        )
        return answers.first ?? .null
    }

    // MARK: Cost

    var pid: Int32 { daemon.identity?.pid ?? 0 }

    /// Processor seconds of the daemon, and of the network process that runs now.
    func processorSeconds() throws -> Double {
        let network = try daemon.networkProcess().map { try Processor.seconds(of: $0.pid) }
        return try Processor.seconds(of: pid) + (network ?? 0)
    }

    /// Of both processes, the peaks of their resident memory.
    func peakMegabytes() throws -> Double {
        let network = try daemon.networkProcess().map { ProcessFields(of: $0.pid)["VmHWM"] }
        return (ProcessFields(of: pid)["VmHWM"] + (network ?? 0)) / 1024
    }
}
