import Linux
import TestKit
import Testing
import Vocabulary

/// The command line beside so many transfers that no answer holds them all.
struct ManyTransfersTests {
    private let server: FaultServer
    private let bench: DaemonBench
    private static let count: Int64 = 10_500

    init() throws {
        server = try FaultServer()
        bench = try DaemonBench()
    }

    @Test func `ten thousand are asked for, listed, and are not in the way of another`() throws {
        server.set("/file", .init(VersionedObject(version: 1, size: 1000)))
        try bench.set("network", "off")
        let lines = (1...Self.count).map { "http://127.0.0.1:9/\($0)\n" }
        let list = try bench.daemon.scratch.write("list", lines.joined())
        let enqueued = try bench.daemon.offstage("download", "-i", list)
        #expect(enqueued.succeeded, "\(enqueued.errors)")

        let listed = try bench.daemon.offstage("transfers", "--json")
        #expect(listed.succeeded, "\(listed.errors)")
        let told = try ValueJSON.parse(listed.output, limit: 1 << 26).listValue ?? []
        #expect(told.compactMap { $0["id"]?.integerValue } == Array(1...Self.count))

        // They stay where they are, and something else is fetched.
        try change("pause")
        try bench.set("network", "on")
        let url = server.url("/file")
        let waited = try bench.daemon.offstage("download", "-w", url)
        #expect(waited.succeeded, "\(waited.errors)")
        #expect(Files.exists(bench.home("file")))

        try change("cancel")
        let cleared = try bench.daemon.offstage("transfers", "--clear")
        #expect(cleared.succeeded, "\(cleared.errors)")
        let left = try bench.daemon.offstage("transfers")
        #expect(left.output == "There are no transfers.\n")
    }

    /// A call takes a thousand numbers.
    private func change(_ action: String) throws {
        var rest = Array(1...Self.count)[...]
        while !rest.isEmpty {
            let some = rest.prefix(1000).map { Value.integer($0) }
            try bench.ask("ChangeTransfers", .string(action), .list(some))
            rest = rest.dropFirst(1000)
        }
    }
}
