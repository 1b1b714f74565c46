import Foundation
import Linux
import TestKit
import Testing
import Vocabulary

/// `Examples/PhotoFeed` under the real daemon and the real network process (J9).
struct PhotoFeedTests {
    private static let refresh = "org.offstage.photofeed.refresh"
    private let web: WebServer
    private let app: SampleApp

    init() throws {
        web = try WebServer()
        try web.put("photos.json", "[]")
        app = try SampleApp(
            "photofeed",
            "BackgroundModes=fetch;\nPermittedTaskIdentifiers=\(Self.refresh);",
            environment: "SERVER=\(web.address(of: "").dropLast());"
        )
        try app.bench.set("network", "on")
        try app.bench.set("power", "on")
        try app.bench.set("metered", "on")
    }

    private func publish(_ ids: [String]) throws {
        let photos = ids.map {
            #"{"id":"\#($0)","title":"Photo \#($0)","#
                + #""thumbnail":"\#($0).small","image":"\#($0).jpg"}"#
        }
        for id in ids {
            try web.put("\(id).small", "small \(id)")
            try web.put("\(id).jpg", image(id))
        }
        try web.put("photos.json", "[\(photos.joined(separator: ","))]")
    }

    private func image(_ id: String) -> String { String(repeating: "image \(id) ", count: 20_000) }

    private func kept(_ name: String) -> String? {
        try? Files.text(app.bench.home(".local/share/photofeed/\(name)"), limit: 1 << 20)
    }

    @Test func `thumbnails are there when the refresh ends, images come for the suspended app`()
        throws
    {
        try app.open(saying: "0 thumbnails came, 0 images are to come")
        try app.leave()
        try app.waitUntilSuspended()
        try publish(["1", "2", "3"])
        try app.launch(Self.refresh)
        let run = try app.bench.nextRun(app.name)
        #expect(run["result"] == "completed", "\(run)")
        #expect(app.lines.last == "in the background: 3 thumbnails came, 3 images are to come")
        #expect((1...3).allSatisfy { kept("\($0).thumbnail") == "small \($0)" })
        // What is asked for in the background waits for a better network.
        #expect(try app.bench.ask("Transfers").listValue?.count == 3)
        #expect((1...3).allSatisfy { kept("\($0).image") == nil })
        try app.waitUntilSuspended()

        try app.bench.set("idle", "on")
        try app.bench.set("metered", "off")
        try app.wait(for: "all images are there")
        #expect((1...3).allSatisfy { kept("\($0).image") == image("\($0)") })
        let events = try app.bench.nextRun(app.name, after: 1)
        #expect(events["trigger"] == "sessionEvents" && events["resumed"] == true, "\(events)")
        #expect(try app.bench.ask("Transfers").listValue?.isEmpty == true)
    }

    @Test func `an image that the server refuses is asked for again by the next refresh`() throws {
        try publish(["1", "2"])
        try web.remove("2.jpg")
        try app.bench.set("metered", "off")
        try app.open(saying: "2 thumbnails came, 2 images are to come")
        try app.wait(for: "no image of 2: it answered 404")
        try app.wait(for: "image of 1")
        try web.put("2.jpg", image("2"))
        try app.leave()
        try app.waitUntilSuspended()
        try app.launch(Self.refresh)
        try app.wait(for: "in the background: 0 thumbnails came, 1 images are to come")
        try app.bench.set("idle", "on")
        try app.wait(for: "image of 2")
    }

    @Test func `a name that leads elsewhere is left out`() throws {
        let photo = #"[{"id":"../../x","title":"Bad","thumbnail":"t","image":"i"}]"#
        try web.put("photos.json", photo)
        try app.open(saying: "0 thumbnails came, 0 images are to come")
        #expect(app.lines.filter { $0.contains("Bad") } == [])
    }
}
