import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// The sample PastAttachments, which knows nothing of how this is built, under the real daemon with
/// the real network process: what the comment at its head promises.
struct SampleSessionTests {
    private let server: WebServer
    private let sample: SampleApp

    init() throws {
        server = try WebServer()
        try server.makeDirectory("attachments")
        for index in 0..<3 {
            let text = String(repeating: "\(index)", count: 1000 + index)
            try server.put("attachments/\(index).bin", text)
        }
        let address = server.address(of: "")
        sample = try SampleApp(
            "PastAttachments",
            "",
            environment: "SERVER=\(address.dropLast());",
            options: ["--virtual-clock"]
        )
        try sample.bench.set("network", "on")
        try sample.bench.set("metered", "off")
        try sample.bench.set("power", "on")
    }

    private func advance(_ span: Interval) throws {
        try sample.bench.ask("Advance", .double(span.seconds), ["patience": 3600])
    }

    private func enqueue() throws {
        try sample.open(saying: "enqueued 3")
        // What it has said it has enqueued is on its way to the daemon.
        try sample.bench.wait(until: "three transfers") {
            try sample.bench.ask("Transfers").listValue?.count == 3
        }
        try sample.leave()
        try sample.waitUntilSuspended()
        try sample.bench.set("idle", "on")
    }

    @Test func `its attachments come after their date, and wake it once`() throws {
        try enqueue()
        let transfers = try #require(try sample.bench.ask("Transfers").listValue)
        #expect(transfers.allSatisfy { $0["state"] == "waiting" && $0["app"] == "pastattachments" })
        // The reason can be asked for.
        #expect(transfers.allSatisfy { $0["sentence"]?.stringValue?.contains("begin") == true })
        #expect(server.answers(200) == 0)
        try advance(.hours(3))
        try sample.wait(for: "all delivered")
        let expected = (0..<3).map { "saved \($0).bin \(1000 + $0)" }
        let lines = sample.lines
        #expect(lines.count { $0 == "rejoined" } == 1)
        #expect(Set(lines.filter { $0.hasPrefix("saved") }) == Set(expected))
        let rejoined = try #require(lines.firstIndex(of: "rejoined"))
        #expect(lines.firstIndex { $0.hasPrefix("saved") } ?? 0 > rejoined)
        #expect(lines.last == "all delivered")
        let run = try sample.bench.nextRun(sample.name)
        #expect(run["trigger"] == "sessionEvents" && run["result"] == "completed", "\(run)")
        // Each file was acknowledged: none is kept, and nothing is listed.
        #expect(try sample.bench.ask("Transfers").listValue?.isEmpty == true)
        let files = sample.bench.daemon.scratch("state/transfers/pastattachments")
        #expect(try Files.list(files) == [])
        try sample.open(saying: "pending 0")
        #expect(try sample.bench.runs(sample.name).count == 1)
    }

    @Test func `killed with its daemon, it is launched and told all the same`() throws {
        try enqueue()
        let process = try sample.process()
        try sample.bench.kill()
        try PidFD(of: process).send(Signal.kill)
        try sample.bench.daemon.start()
        try sample.bench.set("idle", "on")
        try advance(.hours(3))
        try sample.wait(for: "all delivered")
        #expect(sample.lines.count { $0.hasPrefix("saved") } == 3)
    }

    @Test func `on a metered network it waits, and says so`() throws {
        try enqueue()
        try sample.bench.set("metered", "on")
        try advance(.hours(3))
        let transfers = try #require(try sample.bench.ask("Transfers").listValue)
        let sentences = transfers.map { $0["sentence"]?.stringValue ?? "" }
        #expect(sentences.count { $0.contains("metered") } == 3, "\(sentences)")
        #expect(server.answers(200) == 0)
    }

    @Test func `in low-data mode it waits, and says so`() throws {
        try enqueue()
        try sample.bench.set("low-data", "on")
        try advance(.hours(3))
        let transfers = try #require(try sample.bench.ask("Transfers").listValue)
        let sentences = transfers.map { $0["sentence"]?.stringValue ?? "" }
        #expect(sentences.count { $0.contains("low-data mode is on") } == 3, "\(sentences)")
        #expect(server.answers(200) == 0)
    }

    @Test func `a file that is not there within a day fails with a time-out`() throws {
        try enqueue()
        try sample.bench.set("metered", "on")
        try advance(.hours(25))
        try sample.wait(for: "all delivered")
        let failed = sample.lines.filter { $0.hasPrefix("failed") }
        #expect(Set(failed) == Set((0..<3).map { "failed \($0).bin -1001" }))
    }

    @Test func `a page of an error is refused by the app, and no error of the task`() throws {
        try server.remove("attachments/1.bin")
        try enqueue()
        try advance(.hours(3))
        try sample.wait(for: "all delivered")
        #expect(sample.lines.contains("refused 1.bin"))
        #expect(sample.lines.count { $0.hasPrefix("saved") } == 2)
    }
}
