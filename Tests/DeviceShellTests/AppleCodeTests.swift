import Foundation
import Linux
import TestKit
import Testing
import Vocabulary

/// Apps written as for iOS, with their import changed, under the real daemon. `Swift5Peer` and
/// `Swift6Peer` name the language modes that they are compiled in.
struct AppleCodeTests {
    private static let refresh = "org.offstage.swift5.refresh"
    private static let cleaning = "org.offstage.swift6.cleaning"

    private static func swift5() throws -> SampleApp {
        try SampleApp(
            "Swift5Peer",
            "BackgroundModes=fetch;\nPermittedTaskIdentifiers=\(refresh);"
        )
    }

    private static func swift6() throws -> SampleApp {
        try SampleApp(
            "Swift6Peer",
            "BackgroundModes=processing;\nPermittedTaskIdentifiers=\(cleaning);"
        )
    }

    private func open(_ app: SampleApp, _ urls: String...) throws {
        let urls = Value.list(urls.map { .string($0) })
        try app.bench.ask("Open", .string(app.name), ["urls": urls])
    }

    // MARK: Language modes

    @Test func `an app in Swift 5 mode uses the app object on any thread`() throws {
        let app = try Self.swift5()
        try app.open(saying: "scene active 1")
        try app.leave()
        try app.wait(for: "uploading true true false")
        #expect(app.lines.contains("scheduled"))
        #expect(app.lines.contains("scene 1 left true"))
        try app.waitUntilSuspended()
        #expect(try app.task(Self.refresh) != nil)
    }

    @Test func `an app in Swift 6 mode does the same with its main actor`() throws {
        let app = try Self.swift6()
        try app.open(saying: "1 active 1")
        try app.leave()
        try app.wait(for: "1 in the background true")
        try app.waitUntilSuspended()
        #expect(try app.task(Self.cleaning) != nil)
    }

    // MARK: Tasks and beginnings

    @Test func `a task expires through an app's own protocol`() throws {
        let app = try Self.swift5()
        try app.launch(Self.refresh)
        try app.wait(for: "handler true")
        #expect(app.lines.first == "made background", "its init() knows where the app is")
        #expect(app.lines.contains("refresh true"))
        try app.bench.ask("Simulate", "expire", .string(app.name), [:])
        try app.wait(for: "expired")
    }

    @Test func `a closure of the main actor expires there`() throws {
        let app = try Self.swift6()
        try app.launch(Self.cleaning, as: "processing")
        try app.wait(for: "cleaning true")
        let made = "made background"
        #expect(app.lines.first == made, "the class that UIApplicationMain was given by name")
        try app.bench.ask("Simulate", "expire", .string(app.name), [:])
        try app.wait(for: "expired 1")
    }

    @Test func `an app that names a class which is no delegate ends with the reason`() throws {
        let scratch = ScratchDirectory()
        var command = Command(Products.path(of: "Swift6Peer"))
        command.environment = Command.cleanEnvironment(["DELEGATE": "Swift6Peer.Nobody"])
        let process = try command.start(logging: scratch("log"))
        try Wait.until(readable: process.descriptor.number, "its end")
        #expect(try process.wait(block: true) == .exited(1))
        #expect(
            try Files.text(scratch("log"), limit: 4096).contains(
                "UIApplicationMain knows no class Swift6Peer.Nobody"
            )
        )
    }

    // MARK: Scenes

    @Test func `a scene is told of the life of its app, and the app's own delegate is not`() throws
    {
        let app = try Self.swift5()
        try app.open(saying: "scene active 1")
        try app.leave()
        try app.wait(for: "uploading true true false")
        try app.waitUntilSuspended()
        try app.open(saying: "scene active 1", times: 2)
        #expect(
            app.lines == [
                "made inactive", "launched true", "registered true",
                "connected Default Configuration 1", "scene in the foreground", "scene active 1",
                "scene inactive",
                "scene in the background", "scheduled", "scene 1 left true",
                "uploading true true false",
                "scene in the foreground", "scene active 1",
            ]
        )
    }

    @Test func `a launch in the background has no scene until its user comes`() throws {
        let app = try Self.swift5()
        try app.launch(Self.refresh)
        try app.wait(for: "handler true")
        #expect(!app.lines.contains { $0.hasPrefix("connected") || $0.hasPrefix("scene") })
        try open(app, "news:article/1")
        try app.wait(for: "scene active 1")
        #expect(app.lines.contains("connected for news:article/1 true"))
        #expect(!app.lines.contains { $0.hasPrefix("opened") })
    }

    @Test func `an app may ask for a second scene, and for its end`() throws {
        let app = try Self.swift6()
        try app.open(saying: "2 active 2")
        #expect(app.lines.contains(#"2 connected ["second"]"#))
        try open(app, "desk:close")
        try app.wait(for: #"discarded ["2"]"#)
        #expect(app.lines.contains("1 opened desk:close"))
        #expect(
            app.lines.suffix(3).dropLast() == [
                "2 in the background true", "2 disconnected",
            ]
        )
    }

    @Test func `a scene is told of an activity of its app's own`() throws {
        let app = try Self.swift5()
        try app.open(saying: "scene active 1")
        try open(app, "news:advertise")
        try app.wait(for: "goes on with org.offstage.swift5.reading")
    }

    @Test func `an app that is asked to end has no scenes left when they are told`() throws {
        let app = try Self.swift5()
        try app.open(saying: "scene active 1")
        try PidFD(of: try app.process()).send(Signal.terminate)
        try app.wait(for: "scene disconnected 0")
    }

    @Test func `classes that are not used are named`() throws {
        let scratch = ScratchDirectory()
        var command = Command(Products.path(of: "Swift6Peer"))
        command.environment = Command.cleanEnvironment([
            "DESK": "Swift6Peer.AppDelegate", "PRINCIPAL": "Swift6Peer.Desk",
        ])
        let process = try command.start(logging: scratch("log"))
        defer {
            try? process.send(Signal.kill)
            _ = try? process.wait(block: true)
        }
        let reason = "Swift6Peer.AppDelegate cannot be the delegate of a scene"
        try Wait.until(file: scratch("log"), reason) { $0.contains("Offstage: \(reason)") }
        #expect(try scratch.read("log").contains("UIApplicationMain makes no Swift6Peer.Desk"))
    }

    // MARK: URLs

    @Test func `URLs reach an app that is launched for them, that runs, and that is suspended`()
        throws
    {
        let app = try Self.swift5()
        try open(app, "news:article/1", "https://news.example/2?a=b#c")
        try app.wait(for: "scene active 1")
        #expect(
            app.lines.contains("connected for https://news.example/2?a=b#c news:article/1 true")
        )
        #expect(!app.lines.contains { $0.hasPrefix("launched for") }, "its scene alone has them")
        try open(app, "news:article/3")
        try app.wait(for: "opened news:article/3 true")
        try app.leave()
        try app.waitUntilSuspended()
        let known = app.lines.count
        try open(app, "news:article/4")
        try app.wait(for: "scene active 1", times: 2)
        #expect(
            app.lines.dropFirst(known) == [
                "scene in the foreground", "opened news:article/4 true", "scene active 1",
            ]
        )
    }

    @Test func `URLs that an app has not been told of survive the daemon`() throws {
        let app = try Self.swift5()
        try app.open(saying: "scene active 1")
        let process = try app.process()
        try PidFD(of: process).send(Signal.stop)
        try open(app, "news:article/5")
        try app.bench.kill()
        try PidFD(of: process).send(Signal.proceed)
        try app.bench.daemon.start()
        try app.wait(for: "opened news:article/5 true")
        try open(app, "news:article/6")
        try app.wait(for: "opened news:article/6 true")
        #expect(app.lines.count { $0.hasPrefix("opened") } == 2)
    }

    @Test(
        arguments: [
            "no scheme", "/a/path", ":rest", "1a:b", "news:", "news:a b", "news:\u{e9}",
            "news:" + String(repeating: "a", count: 8188), "ne_ws:x", "news:a\nb",
        ]
    )
    func `what is no URL is refused before the app is opened`(url: String) throws {
        let app = try Self.swift5()
        let refusal = try app.bench.refusal(
            "Open",
            .string(app.name),
            ["urls": .list([.string(url)])]
        )
        #expect(refusal.name == "org.offstage.Error.Invalid")
        #expect(refusal.text.contains("URL"), "\(refusal.text)")
        #expect(try app.bench.running(app.name) == nil)
    }

    @Test func `more URLs than an app opens at once are refused`() throws {
        let app = try Self.swift5()
        let urls = Value.list((0..<65).map { .string("news:\($0)") })
        let refusal = try app.bench.refusal("Open", .string(app.name), ["urls": urls])
        #expect(refusal.text.contains("at most 64 URLs"), "\(refusal.text)")
    }
}
