import Linux
import TestKit
import Testing
import Vocabulary

/// `Examples/Podcasts` under the real daemon and the real network process.
struct PodcastsTests {
    private static let refresh = "org.offstage.podcasts.refresh"
    /// For the list of the show.
    private let web: WebServer
    /// For its episodes.
    private let server: FaultServer
    private let app: SampleApp

    init() throws {
        (web, server) = (try WebServer(), try FaultServer())
        try web.put("show.json", #"{"items":[]}"#)
        app = try SampleApp(
            "podcasts",
            "BackgroundModes=fetch;\nPermittedTaskIdentifiers=\(Self.refresh);",
            environment: "SHOW=\(web.address(of: "show.json"));"
        )
        try app.bench.set("network", "on")
        try app.bench.set("power", "on")
        try app.bench.set("metered", "off")
    }

    private func episode(_ number: UInt64) -> VersionedObject {
        VersionedObject(version: number, size: 12 << 20)
    }

    private func publish(_ numbers: [UInt64]) throws {
        let items = numbers.map {
            #"{"id":"\#($0)","title":"Episode \#($0)","attachments":["#
                + #"{"url":"\#(server.url("/\($0).mp3"))","mime_type":"audio/mpeg"}]}"#
        }
        for number in numbers { server.set("/\(number).mp3", .init(episode(number))) }
        try web.put("show.json", #"{"items":[\#(items.joined(separator: ","))]}"#)
    }

    private func files() throws -> [String] {
        let names = try Files.list(app.bench.home(".local/share/podcasts"))
        return names.filter { $0 != "shelf.json" }.sorted()
    }

    private func isKept(_ number: UInt64, as name: String) throws -> Bool {
        let path = app.bench.home(".local/share/podcasts/\(name)")
        return try Files.read(path, limit: 13 << 20) == episode(number).all
    }

    @Test func `new episodes come for an app that is gone, which is launched once`() throws {
        try app.open(saying: "0 episodes are to come")
        try app.leave()
        try app.waitUntilSuspended()
        try publish([2, 1])
        try app.launch(Self.refresh)
        try app.wait(for: "in the background: 2 episodes are to come")
        #expect(try app.bench.nextRun(app.name)["result"] == "completed")
        try app.waitUntilSuspended()
        let process = try PidFD(of: app.process())
        try process.send(Signal.kill)
        try Wait.until(readable: process.descriptor.number)

        // What was asked for in the background waits for that.
        try app.bench.set("idle", "on")
        try app.wait(for: "all that was asked for has ended")
        let last = app.lines.suffix(3).sorted()
        #expect(last.prefix(2) == ["Episode 1 is here", "Episode 2 is here"])
        #expect(try files() == ["1.mp3", "2.mp3"])
        let areWhole = try isKept(2, as: "1.mp3") && isKept(1, as: "2.mp3")
        #expect(areWhole, "other bytes")
    }

    @Test func `what its user interrupts goes on where it was`() throws {
        try publish([1])
        server.change("/1.mp3") { $0.holdsAfter = 6 << 20 }
        try app.open(saying: "1 episodes are to come")
        try server.waitUntilHeld(1)
        // Which quarters are told depends on how often the progress is.
        try Wait.until("the progress of the first\n\(app.lines)") {
            app.lines.contains { $0.hasPrefix("Episode 1: ") && $0 != "Episode 1: 0 %" }
        }
        try app.bench.ask("Close", .string(app.name), [:])
        try web.put("show.json", "no show")
        // The show cannot be read while the app hears what has become of its download.
        try app.bench.ask("Open", .string(app.name), [:])
        try Wait.until("the end of the first\n\(app.lines)") {
            app.lines.contains { $0.hasPrefix("no Episode 1: ") }
        }
        try app.leave()
        server.change("/1.mp3") { $0.holdsAfter = nil }
        try publish([1])
        try app.open(saying: "Episode 1 is here")
        #expect(app.lines.contains { $0.hasPrefix("Episode 1 goes on after ") })
        #expect(try isKept(1, as: "1.mp3"), "other bytes")
        let ranges = server.requests.map { $0.fields["range"] }
        let goesOn = ranges.dropFirst() == ["bytes=6291456-"]
        #expect(goesOn, "\(ranges)\n\(app.lines)\n\(app.bench.report)")
    }

    @Test func `an episode that leaves the show makes room, and ends on its way`() throws {
        try publish([1])
        try app.open(saying: "Episode 1 is here")
        try publish([2])
        server.change("/2.mp3") { $0.holdsAfter = 1 << 20 }
        try app.leave()
        try app.open(saying: "1 episodes are to come", times: 2)
        #expect(try files() == [])
        try server.waitUntilHeld(1)
        try publish([4, 3])
        try app.leave()
        try app.open(saying: "2 episodes are to come")
        try app.wait(for: "Episode 4 is here")
        try app.wait(for: "Episode 3 is here")
        #expect(try files() == ["3.mp3", "4.mp3"])
        // The app says so in its answer to the end, which the daemon has not heard yet.
        try Wait.until("nothing is left in the list") {
            try app.bench.ask("Transfers").listValue?.isEmpty == true
        }
    }
}
