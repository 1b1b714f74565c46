import DeviceCore
import Testing
import Vocabulary

/// What cannot be done is said to whoever asked for it, with what can be done instead.
struct WayOutTests {
    private static func order(_ url: String) -> TransferOrder {
        TransferOrder(url: url, directory: "/home/user")
    }

    // MARK: Transfers

    @Test func `a transfer that has ended neither stops nor goes on, and that is said`() throws {
        var bench = Bench()
        let orders = ["a", "b", "c", "d"].map { Self.order("http://example.org/\($0)") }
        guard case .transfers(let ids) = bench.ask(.transfer(.enqueue(orders, token: nil))) else {
            Issue.record("nothing is enqueued")
            return
        }
        bench.ask(.transfer(.cancel([ids[0]])))
        bench.report(ids[0], .ended(.interrupted(.init(.stopped)), durable: 0))
        let failure = ExchangeFailure(.status, reason: "the server answered 404")
        bench.report(ids[1], .ended(.failed(failure), durable: 0))
        bench.report(ids[2], .ended(.complete(size: 1), durable: 1))
        bench.report(ids[2], .placed(name: "c"))
        let again = "download it again"
        let told = [
            ("was cancelled", again), ("has failed", again),
            ("is finished", "nothing is left to do"),
        ]
        for (id, (what, fix)) in zip(ids, told) {
            for request in [TransferRequest.pause([id]), .resume([id]), .pause([ids[3], id])] {
                bench.ask(.transfer(request))
                #expect(bench.refusal?.reason == "transfer \(id) \(what)")
                #expect(bench.refusal?.fix == fix)
            }
            // Asked twice because an answer was lost, it is done all the same.
            #expect(bench.ask(.transfer(.cancel([id]))) == .done)
        }
        #expect(bench.transfer(ids[3])?.isUnderWay == true, "all of them, or none")
        let listed = bench.device.transferList(ids, at: bench.now)
        #expect(listed.map(\.status) == [nil, 404, nil, nil])
    }

    @Test func `who would cancel all downloads by the name of their app is told how`() throws {
        var bench = Bench()
        bench.ask(.transfer(.enqueue([Self.order("http://example.org/a")], token: nil)))
        bench.ask(.cancel(Device.downloads, identifier: nil))
        let fix = "offstage transfers lists them; offstage cancel takes their numbers"
        #expect(bench.refusal?.fix == fix)
    }

    @Test(arguments: ["127.0.0.1:18181/small.bin", "example.org/a", "http:/a", "a"])
    func `a URL without its beginning is told from one of another kind`(url: String) {
        var bench = Bench()
        bench.ask(.transfer(.enqueue([Self.order(url)], token: nil)))
        #expect(bench.refusal?.reason == "the URL does not begin with https:// or http://")
    }

    // MARK: Names

    @Test(arguments: [
        ("bakcup", "did you mean command.backup?"), ("backup", "did you mean command.backup?"),
        ("command.bakcup", "did you mean command.backup?"),
        ("newsboat.desktop", "did you mean newsboat?"),
        ("newsbaot.desktop", "did you mean newsboat?"),
    ])
    func `a name is guessed as people write it`(name: String, fix: String) {
        var bench = Bench()
        bench.install(.refreshing("newsboat"))
        bench.ask(.submit(Submission(kind: .processing, after: .hours(1), command: ["backup"])))
        bench.ask(.run(AppID(name), identifier: nil))
        #expect(bench.refusal?.fix == fix)
    }

    // MARK: Commands

    @Test func `how a run ended that outlived its daemon is not known, which is no failure`() throws
    {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .refresh, command: ["sync"])))
        let launch = try #require(bench.spawn(of: "command.sync"))
        bench.started(launch)
        bench.send(.process(launch, .exited(.unknown, nil)))
        let sentence = bench.sentence("command.sync")
        #expect(sentence.contains("how its run ended is not known"), "\(sentence)")
        #expect(sentence.contains("offstage logs command.sync"))
        #expect(!sentence.contains("failed"))
    }

    @Test func `a submitted command is not opened, and has no manifest to be changed`() {
        var bench = Bench()
        bench.ask(.submit(Submission(kind: .processing, after: .hours(1), command: ["backup"])))
        bench.ask(.open(AppID("command.backup"), attach: nil))
        #expect(bench.refusal?.fix == "offstage run command.backup runs what was submitted")
    }
}
