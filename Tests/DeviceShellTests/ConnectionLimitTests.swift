import Linux
import SystemBus
import TestKit
import Testing
import Vocabulary

/// Many small files at once (E10): over few connections, side by side, an app in front of its user
/// first, and fair between two that are not. The server holds each answer, so that what is on its
/// way is what has been asked for and was not released.
struct ConnectionLimitTests {
    private let server: FaultServer
    private let app: SampleApp
    private let folder = ScratchDirectory()
    /// Transfers of one host at once.
    private static let most = 6
    private static let size: Int64 = 20_000

    init() throws {
        server = try FaultServer()
        try folder.write("notes", "")
        try folder.write("round", "0")
        app = try SampleApp(
            "SessionPeer",
            "",
            environment: "DO=collect;COUNT=20;FILE=\(folder.path);SERVER=\(server.url(""));"
        )
        for (name, value) in [("network", "on"), ("metered", "off"), ("power", "on")] {
            try app.bench.set(name, value)
        }
    }

    /// The server holds what it answers.
    private func serve(_ paths: [String]) {
        for (index, path) in paths.enumerated() {
            let object = VersionedObject(version: UInt64(index), size: Self.size)
            var behaviour = FaultServer.Behaviour(object)
            behaviour.holdsHead = true
            server.set(path, behaviour)
        }
    }

    private func download(_ paths: [String]) throws {
        let home = app.bench.home("")
        let words = ["download", "-d", home] + paths.map { server.url($0) }
        let outcome = try app.bench.daemon.offstage(words)
        #expect(outcome.succeeded, "\(outcome.errors)")
    }

    /// Lets one go, and waits for what is asked for in its place.
    private func replace(_ path: String) throws {
        let held = server.heldCount
        server.release(path)
        try server.waitUntilHeld(held + 1)
    }

    private var asked: [String] { server.requests.map(\.path) }

    @Test func `six files of a host are on their way, until fewer are left, over six connections`()
        throws
    {
        let paths = (0..<40).map { "/file\($0)" }
        serve(paths)
        try download(paths)
        try server.waitUntilHeld(Self.most)
        #expect(Set(asked) == Set(paths[..<Self.most]))
        for index in 0..<paths.count - Self.most {
            #expect(asked.count == Self.most + index)
            try replace(asked[index])
        }
        // Each is answered; the rest of the files go out one by one.
        server.release()
        try Wait.until("all are there\n\(app.bench.report)") {
            try paths.allSatisfy { try isThere($0) }
        }
        #expect(asked.count == paths.count)
        #expect(server.accepted == Self.most, "\(server.accepted) connections")
        for (index, path) in paths.enumerated() {
            let object = VersionedObject(version: UInt64(index), size: Self.size)
            let bytes = try Files.read(app.bench.home(String(path.dropFirst())), limit: 1 << 20)
            #expect(bytes == object.all, "\(path)")
        }
    }

    private func isThere(_ path: String) throws -> Bool {
        Files.exists(app.bench.home(String(path.dropFirst())))
    }

    @Test func `an app in front of its user goes first, and else each has its share`() throws {
        let mine = (0..<20).map { "/mine\($0)" }
        let its = (0..<20).map { "/0-\($0)" }
        serve(mine + its)
        try download(mine)
        try server.waitUntilHeld(Self.most)
        #expect(Set(asked) == Set(mine[..<Self.most]))
        try app.bench.ask("Open", .string(app.name), [:])
        try Wait.until("its tasks are known\n\(app.bench.report)") {
            try app.bench.ask("Transfers").listValue?.count == mine.count + its.count
        }
        // Whatever is free is the app's.
        for index in 0..<Self.most - 1 { try replace(mine[index]) }
        #expect(Array(asked[Self.most...]) == Array(its[..<(Self.most - 1)]))
        // It has no user any more: who has fewer on their way is next, and each has three at last.
        try app.leave()
        try app.waitUntilSuspended()
        var waiting = (mine: [mine[Self.most - 1]], its: Array(its[..<(Self.most - 1)]))
        while waiting.its.count > waiting.mine.count {
            try replace(waiting.its.removeFirst())
            let next = try #require(asked.last)
            #expect(mine.contains(next), "\(next) has its turn before others")
            waiting.mine.append(next)
        }
        #expect(waiting.mine.count == Self.most / 2 && waiting.its.count == Self.most / 2)
        // From then on whoever has one less gets the next.
        for isMine in [true, false, false, true, true] {
            let path = isMine ? waiting.mine.removeFirst() : waiting.its.removeFirst()
            try replace(path)
            let next = try #require(asked.last)
            #expect(mine.contains(next) == isMine, "\(next) instead of \(path)")
            if isMine { waiting.mine.append(next) } else { waiting.its.append(next) }
        }
        #expect(server.accepted <= Self.most, "\(server.accepted) connections")
    }
}
