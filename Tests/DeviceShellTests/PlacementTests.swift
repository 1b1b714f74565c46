import Linux
import TestKit
import Testing
import Vocabulary

/// A file that is complete while the daemon lacks what it takes to give it its name.
struct PlacementTests {
    private let server: FaultServer
    private let bench: DaemonBench

    init() throws {
        server = try FaultServer()
        bench = try DaemonBench()
    }

    private func transfer() throws -> Value? { try bench.ask("Transfers").listValue?.first }

    @Test func `a complete file outlives a daemon that can open nothing for a while`() throws {
        let object = VersionedObject(version: 1, size: 1 << 20)
        server.set("/file", .init(object))
        server.change("/file") { $0.holdsAfter = object.size - 1 }
        let enqueued = try bench.daemon.offstage("download", server.url("/file"))
        #expect(enqueued.succeeded, "\(enqueued.errors)")
        try server.waitUntilHeld(1)
        // By now the daemon has closed the connection of whoever asked before.
        for _ in 1...2 { #expect(try bench.answers()) }
        let pid = try #require(bench.daemon.identity).pid
        func allow(_ descriptors: Int) throws {
            let limit = "--nofile=\(descriptors):4096"
            #expect(try Command("prlimit", "--pid", "\(pid)", limit).run().succeeded)
        }
        let taken = Set(try Files.list("/proc/\(pid)/fd").compactMap { Int($0) })
        // What is open stays open; the lowest free number is the first that is not given out.
        try allow((0...taken.count).first { !taken.contains($0) } ?? 0)
        server.release()
        try Wait.until("it waits for its name") {
            let sentence = try transfer()?["sentence"]?.stringValue ?? ""
            return sentence.contains("is complete, and waits: this machine interrupted it")
        }
        #expect(try transfer()?["state"] == "waiting")
        try allow(4096)
        try Wait.until("it has its name") { try transfer()?["state"] == "finished" }
        let isWhole = try Files.read(bench.home("file"), limit: 1 << 21) == object.all
        #expect(isWhole)
        #expect(server.requests.count == 1, "it is fetched once")
    }
}
