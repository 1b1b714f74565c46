import DeviceCore
import Testing
import Vocabulary

/// What an app is opened for: it is told once, whoever goes on the way.
struct OpeningTests {
    private static let app = AppID("app")

    private func opened(_ urls: String...) throws -> (Bench, LaunchID) {
        var bench = Bench()
        bench.install(.linked("app"))
        bench.ask(.open(Self.app, attach: nil, urls: urls))
        let launch = try #require(bench.spawn(of: "app"))
        bench.started(launch)
        return (bench, launch)
    }

    private func open(_ bench: inout Bench, _ urls: String...) {
        bench.ask(.open(Self.app, attach: nil, urls: urls))
    }

    private func greeting(_ bench: inout Bench, _ launch: LaunchID) throws -> Greeting {
        bench.say(launch, .connected(reply: bench.nextReply()))
        guard case .greeted(let greeting) = bench.reply else {
            throw DidNotGreet()
        }
        return greeting
    }

    private struct DidNotGreet: Error {}

    /// Which openings the last turn told, in order, among what else matters.
    private func told(_ bench: Bench) -> [String] {
        bench.effects.compactMap { effect in
            guard case .tell(_, let message) = effect else { return nil }
            return switch message {
            case .openURLs(let opening): "\(opening.number) \(opening.urls)"
            case .willEnterForeground: "foreground"
            case .didBecomeActive: "active"
            case _: nil
            }
        }
    }

    @Test func `a launch has what it is for in its greeting`() throws {
        var (bench, launch) = try opened("x:1", "x:2")
        let greeting = try greeting(&bench, launch)
        #expect(greeting.urls == ["x:1", "x:2"])
        #expect(greeting.opening == 1)
        // Until it says that it knows: the greeting may have been lost.
        bench.say(launch, .finishedLaunching(registered: []))
        #expect(told(bench) == [#"1 ["x:1", "x:2"]"#, "active"])
        bench.say(launch, .openedURLs(1))
        bench.say(launch, .disconnected)
        bench.say(launch, .reconnected(running: [], finished: []))
        #expect(told(bench).isEmpty)
    }

    @Test func `an app without URLs is greeted as ever`() throws {
        var (bench, launch) = try opened()
        let greeting = try greeting(&bench, launch)
        #expect(greeting.urls == nil && greeting.opening == nil)
    }

    @Test func `a suspended app is told before it comes to the foreground`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        _ = try bench.suspendApp("app")
        open(&bench, "x:1")
        #expect(told(bench) == [#"1 ["x:1"]"#, "foreground", "active"])
        // And one that is there at once, of the new ones only.
        open(&bench, "x:2")
        #expect(told(bench) == [#"2 ["x:2"]"#])
    }

    @Test func `what was not acknowledged is told again on the next connection`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.openApp("app")
        open(&bench, "x:1")
        bench.say(launch, .disconnected)
        open(&bench, "x:2")
        #expect(told(bench).isEmpty)
        bench.say(launch, .reconnected(running: [], finished: []))
        #expect(told(bench) == [#"1 ["x:1"]"#, #"2 ["x:2"]"#])
    }

    @Test func `an app that was ending is started again for what it is opened for`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        let launch = try bench.suspendApp("app")
        bench.ask(.close(Self.app))
        open(&bench, "x:1")
        open(&bench, "x:2")
        bench.exited(launch)
        let next = try #require(bench.spawn(of: "app"))
        bench.started(next)
        #expect(try greeting(&bench, next).urls == ["x:1", "x:2"])
    }

    @Test func `who opens an app that has no connection learns what it was not told`() throws {
        var (bench, launch) = try opened("x:1")
        func untold() -> Int64? {
            if case .opened(let opened) = bench.reply { opened.untold } else { -1 }
        }
        #expect(untold() == nil, "it starts, and may connect")
        open(&bench, "x:2", "x:3")
        #expect(untold() == 3)
        open(&bench)
        #expect(untold() == nil, "nothing was to be told")
        bench.say(launch, .finishedLaunching(registered: []))
        open(&bench, "x:4")
        #expect(untold() == nil)
    }

    @Test func `an app that takes none is given so many and no more`() throws {
        var bench = Bench()
        bench.install(.linked("app"))
        _ = try bench.openApp("app")
        for _ in 0..<4 {
            bench.ask(.open(Self.app, attach: nil, urls: (0..<64).map { "x:\($0)" }))
            #expect(bench.refusal == nil)
        }
        open(&bench, "x:more")
        #expect(bench.refusal?.code == .held)
        open(&bench)
        #expect(bench.refusal == nil, "it can be opened all the same")
    }
}
