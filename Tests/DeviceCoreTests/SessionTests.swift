@testable import DeviceCore
import Testing
import Vocabulary

/// Background sessions of apps: who is told the end of which task, when, and until when.
struct SessionTests {
    private static let session = "photos"

    // MARK: An app that listens

    @Test func `an app that runs is told each end in order, the next when it has acknowledged`()
        throws
    {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [1, 2, 3])
        // The second ends first.
        finish(&bench, ids[1])
        #expect(bench.ends(launch).map(\.task.task) == [2])
        finish(&bench, ids[0])
        finish(&bench, ids[2])
        #expect(bench.ends(launch).isEmpty)
        bench.say(launch, .acknowledged(ids[1]))
        #expect(bench.ends(launch).map(\.task.task) == [1])
        #expect(bench.ends(launch).first?.remaining == 1)
        #expect(bench.stored(ids[1]) == nil)
        #expect(bench.stored(ids[0]) != nil)
        bench.say(launch, .acknowledged(ids[0]))
        bench.say(launch, .acknowledged(ids[2]))
        #expect(bench.stored(ids[2]) == nil)
    }

    @Test func `what it is told has the file, the answer and the app's own words`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [7])
        bench.report(ids[0], .opened(inode: 1))
        bench.report(ids[0], .answered(answer))
        bench.report(ids[0], .ended(.complete(size: 9), durable: 9))
        bench.report(ids[0], .placed(name: "\(ids[0]).download"))
        let end = try #require(bench.ends(launch).first)
        #expect(end.result == .finished && end.size == 9 && end.remaining == 0)
        #expect(end.file == "/spool/\(ids[0]).download")
        #expect(end.status == 404 && end.url == "http://example.org/moved")
        #expect(end.headers == [HTTPField("X-A", "b")])
        #expect(end.task.description == "photo 7" && end.task.url == "http://example.org/7")
        // The file goes with the acknowledgement, and not before.
        let file = TransferFile(directory: "/spool", partialName: "\(ids[0]).download")
        #expect(!bench.contains(.transfer(ids[0], .discard(file))))
        bench.say(launch, .acknowledged(ids[0]))
        #expect(bench.contains(.transfer(ids[0], .discard(file))))
    }

    @Test func `people are told the name that the file has for everybody else`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [7, 8])
        var named = answer
        named.headers = [HTTPField("Content-Disposition", "attachment; filename=sea.jpg")]
        for (id, answer) in zip(ids, [answer, named]) {
            bench.report(id, .answered(answer))
            bench.report(id, .ended(.complete(size: 9), durable: 9))
        }
        func files() -> [String?] {
            bench.device.transferList(of: AppID("app"), at: bench.now).map(\.file)
        }
        #expect(files() == ["moved", "sea.jpg"], "it is being put in place")
        for id in ids { bench.report(id, .placed(name: "\(id).download")) }
        #expect(files() == ["moved", "sea.jpg"])
        let told = bench.history.compactMap { line in
            if case .transferred(_, _, let end) = line.entry { end.summary } else { nil }
        }
        #expect(told == ["moved, 9 B", "sea.jpg, 9 B"])
        let sentence = bench.device.explain(ids[1], at: bench.now)?.sentence ?? ""
        #expect(sentence.contains(": sea.jpg, 9 B."), "\(sentence)")
    }

    /// Most apps take nothing but 200 for a file.
    @Test func `a file that came in parts is told as one that came as a whole`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [1])
        var part = answer
        (part.status, part.offset) = (206, 4)
        part.headers += [
            HTTPField("content-range", "bytes 4-8/9"), HTTPField("content-length", "5"),
        ]
        bench.report(ids[0], .answered(part))
        finish(&bench, ids[0])
        let end = try #require(bench.ends(launch).first)
        #expect(end.status == 200)
        #expect(end.headers == answer.headers + [HTTPField("Content-Length", "1")])
    }

    @Test func `who loses its connection is told again what it had not acknowledged`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [1, 2])
        for id in ids { finish(&bench, id) }
        bench.say(launch, .disconnected)
        bench.say(launch, .reconnected(running: [], finished: [], reply: bench.nextReply()))
        #expect(bench.ends(launch).isEmpty, "it has not joined")
        let joined = try join(&bench, launch)
        #expect(joined.missed == 2)
        #expect(bench.ends(launch).map(\.task.task) == [1])
        // Joined once more on the same connection it is told nothing twice.
        #expect(try join(&bench, launch).missed == 1)
        #expect(bench.ends(launch).isEmpty)
        // Late, by the process of before: it is the same end.
        bench.say(launch, .acknowledged(ids[0]))
        #expect(bench.ends(launch).map(\.task.task) == [2])
    }

    @Test func `an app that crashes is told again by a daemon that has started anew`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [1])
        finish(&bench, ids[0])
        bench.killed(launch, signal: 11)
        try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        let again = try bench.openApp("app")
        #expect(try join(&bench, again).missed == 1)
        #expect(bench.ends(again).map(\.task.task) == [1])
    }

    @Test func `progress is told to who listens, and a resumption by itself`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let id = try enqueue(&bench, launch, [1])[0]
        bench.report(id, .answered(answer))
        bench.report(id, .progress(received: 5, durable: 0))
        #expect(bench.progress(launch).map(\.received) == [5])
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 5))
        bench.advance(.seconds(3))
        bench.report(id, .answered(ExchangeAnswer(status: 206, url: "http://a", offset: 5)))
        #expect(bench.progress(launch).map(\.resumedAt) == [5])
    }

    @Test func `of a file that comes with its answer, all of it is told as progress`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let id = try enqueue(&bench, launch, [1])[0]
        var whole = ExchangeAnswer(status: 200, url: "http://a", total: 7)
        whole.isWhole = true
        bench.report(id, .answered(whole))
        let told = bench.progress(launch)
        #expect(told == [TaskProgress(task: 1, received: 7, total: 7)])
    }

    // MARK: An app that does not

    @Test func `a suspended app is resumed once, when all of its tasks have ended`() throws {
        var (bench, launch) = try suspended(tasks: [1, 2])
        let ids = bench.sessionTasks
        finish(&bench, ids[0])
        #expect(bench.offers(launch).isEmpty && !bench.contains(.thaw(launch)))
        finish(&bench, ids[1])
        #expect(bench.contains(.thaw(launch)))
        #expect(bench.offered(launch).map(\.kind) == [.trigger(.sessionEvents)])
        #expect(bench.offered(launch).map(\.identifier) == [Self.session])
        // It hears why it was resumed before it hears of the ends.
        #expect(bench.ends(launch).isEmpty)
        let delivery = try bench.accept(launch, handler: false)
        #expect(bench.ends(launch).map(\.task.task) == [1])
        bench.say(launch, .acknowledged(ids[0]))
        bench.say(launch, .acknowledged(ids[1]))
        bench.say(launch, .completed(delivery, .succeeded))
        bench.advance(.hours(5))
        #expect(bench.offers(launch).isEmpty, "there is nothing left")
    }

    @Test func `an app that is not running is launched, and not while a task is on its way`() throws
    {
        var (bench, launch) = try suspended(tasks: [1, 2])
        let ids = bench.sessionTasks
        bench.killed(launch, signal: 11)
        bench.advance(.minutes(30))
        finish(&bench, ids[0])
        #expect(bench.spawn(of: "app") == nil)
        finish(&bench, ids[1])
        #expect(bench.spawn(of: "app") != nil)
    }

    @Test func `an app that is in use hears of its events when its user leaves`() throws {
        var (bench, launch) = try suspended(tasks: [1])
        bench.killed(launch, signal: 11)
        launch = try bench.openApp("app")
        finish(&bench, bench.sessionTasks[0])
        bench.advance(.hours(1))
        #expect(bench.offers(launch).isEmpty, "it may make its session at any time")
        bench.ask(.leave(AppID("app")))
        #expect(bench.offered(launch).map(\.kind) == [.trigger(.sessionEvents)])
    }

    @Test func `a suspended task keeps nobody waiting`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [1, 2])
        ask(&bench, launch, .suspend([2]))
        bench.report(ids[1], .ended(.interrupted(.init(.stopped)), durable: nil))
        try leave(&bench, launch)
        finish(&bench, ids[0])
        #expect(bench.contains(.thaw(launch)))
    }

    @Test func `an app that acknowledged all as it was suspended is not resumed again`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [1])
        finish(&bench, ids[0])
        #expect(bench.ends(launch).map(\.task.task) == [1])
        bench.send(.condition(.thermal, .kernel, .value(3)))
        try leave(&bench, launch)
        #expect(bench.gates("app") == ["thermal"])
        // It had been on its way.
        bench.say(launch, .acknowledged(ids[0]))
        #expect(bench.gates("app").isEmpty)
        bench.send(.condition(.thermal, .kernel, .value(0)))
        bench.advance(.hours(5))
        #expect(!bench.contains(.thaw(launch)) && bench.offers(launch).isEmpty)
    }

    @Test func `without launch events it waits for the app`() throws {
        var (bench, launch) = try suspended(tasks: [1], sendsLaunchEvents: false)
        finish(&bench, bench.sessionTasks[0])
        bench.advance(.hours(10))
        #expect(!bench.contains(.thaw(launch)) && bench.offers(launch).isEmpty)
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(bench.ends(launch).map(\.task.task) == [1])
    }

    @Test func `launches for events are held apart, longer each time, until its user comes`() throws
    {
        var (bench, launch) = try suspended(tasks: [])
        var number: Int64 = 0
        for minutes: Int64 in [0, 1, 2, 4, 8, 16, 32, 64, 128, 240, 240] {
            number += 1
            let id = try enqueue(&bench, launch, [number])[0]
            finish(&bench, id)
            if minutes > 0 {
                #expect(bench.gates("app") == ["back-off"])
                bench.advance(.minutes(minutes) - .milliseconds(1))
                #expect(bench.offers(launch).isEmpty, "\(minutes)")
                bench.advance(.milliseconds(1))
            }
            let delivery = try bench.accept(launch, handler: false)
            bench.say(launch, .acknowledged(id))
            // What is enqueued in the run ends soon after it.
            bench.say(launch, .completed(delivery, .succeeded))
        }
        bench.ask(.open(AppID("app"), attach: nil))
        try leave(&bench, launch)
        finish(&bench, try enqueue(&bench, launch, [100])[0])
        #expect(!bench.offers(launch).isEmpty, "its user has been there")
    }

    @Test func `what was asked for in the background is discretionary until its user comes`() throws
    {
        var (bench, launch) = try suspended(tasks: [])
        bench.send(.condition(.metered, .kernel, .value(1)))
        let id = try enqueue(&bench, launch, [1])[0]
        bench.advance(.minutes(5))
        #expect(bench.transferGates(id) == ["metered"])
        bench.ask(.open(AppID("app"), attach: nil))
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    @Test func `what ends while its handler is open opens no other one`() throws {
        var (bench, launch) = try suspended(tasks: [1])
        let first = bench.sessionTasks[0]
        finish(&bench, first)
        let delivery = try bench.accept(launch, handler: false)
        bench.say(launch, .acknowledged(first))
        let next = try enqueue(&bench, launch, [2])[0]
        finish(&bench, next)
        #expect(bench.ends(launch).map(\.task.task) == [2] && bench.offers(launch).isEmpty)
        bench.advance(.seconds(10))
        #expect(bench.offers(launch).isEmpty)
        bench.say(launch, .acknowledged(next))
        bench.say(launch, .completed(delivery, .succeeded))
        bench.advance(.hours(5))
        #expect(bench.offers(launch).isEmpty)
    }

    // MARK: Requests

    @Test func `an enqueue that is repeated enqueues nothing more`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        for _ in 0..<2 { ask(&bench, launch, .enqueue([order(1)], token: "t")) }
        #expect(bench.sessionTasks.count == 1)
        #expect(bench.reply == .done)
    }

    @Test func `one bad task refuses all of them`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let bad = SessionOrder(
            task: SessionTask(session: Self.session, number: 2),
            order: TransferOrder(url: "ftp://a/b", directory: "/spool")
        )
        ask(&bench, launch, .enqueue([order(1), bad], token: nil))
        #expect(bench.refusal?.code == .invalid)
        #expect(bench.sessionTasks.isEmpty)
    }

    @Test func `a number is that of one task, until it has ended`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        ask(&bench, launch, .enqueue([order(7), order(7)], token: nil))
        #expect(bench.refusal?.code == .invalid && bench.refusal?.value == "7")
        #expect(bench.sessionTasks.isEmpty)
        let id = try enqueue(&bench, launch, [7])[0]
        ask(&bench, launch, .enqueue([order(8), order(7)], token: nil))
        #expect(bench.refusal?.code == .invalid && bench.refusal?.value == "7")
        #expect(bench.sessionTasks == [id])
        // Other sessions have numbers of their own.
        bench.askSession(launch, .join(sendsLaunchEvents: true), of: "other")
        let other = SessionOrder(
            task: SessionTask(session: "other", number: 7),
            order: order(7).order
        )
        bench.askSession(launch, .enqueue([other], token: nil), of: "other")
        #expect(bench.refusal == nil && bench.sessionTasks.count == 2)
        ask(&bench, launch, .cancel([7]))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: nil))
        #expect(bench.stored(id)?.isEnded == true)
        ask(&bench, launch, .enqueue([order(7)], token: nil))
        #expect(bench.refusal == nil && bench.sessionTasks.count == 2)
    }

    @Test func `a suspended task does nothing, and its time does not run`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let id = try enqueue(&bench, launch, [1])[0]
        ask(&bench, launch, .suspend([1]))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: nil))
        bench.advance(.days(8))
        #expect(bench.stored(id)?.isEnded == false)
        #expect(bench.transfer(id)?.isUnderWay == false)
        ask(&bench, launch, .resume([1]))
        #expect(bench.transfer(id)?.isUnderWay == true)
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: nil))
        bench.send(.condition(.network, .kernel, .value(0)))
        bench.advance(.days(7) - .minutes(1))
        #expect(bench.ends(launch).isEmpty && bench.stored(id)?.isEnded == false)
        bench.advance(.minutes(1))
        #expect(bench.stored(id)?.isEnded == true, "a week after it was resumed")
    }

    @Test func `a task is described anew, also for who comes after a restart`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        _ = try enqueue(&bench, launch, [1, 2])
        ask(&bench, launch, .describe([1], "mine"))
        ask(&bench, launch, .describe([2, 9], nil))
        bench.killed(launch, signal: 11)
        try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        let again = try bench.openApp("app")
        let tasks = try join(&bench, again).tasks
        #expect(tasks.map(\.description) == ["mine", nil])
    }

    @Test
    func `a cancelled task is told as cancelled, a swiped app's as closed by its user`() throws {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch)
        let ids = try enqueue(&bench, launch, [1, 2])
        ask(&bench, launch, .cancel([1]))
        bench.report(ids[0], .ended(.interrupted(.init(.stopped)), durable: nil))
        #expect(bench.ends(launch).compactMap(\.result.known) == [.cancelled])
        bench.say(launch, .acknowledged(ids[0]))
        bench.ask(.close(AppID("app")))
        #expect(bench.contains(.transfer(ids[1], .stop)))
        bench.report(ids[1], .ended(.interrupted(.init(.stopped)), durable: nil))
        bench.killed(launch, signal: 9)
        bench.advance(.days(2))
        #expect(bench.spawn(of: "app") == nil, "until its user opens it")
        let again = try bench.openApp("app")
        try join(&bench, again)
        #expect(bench.ends(again).compactMap(\.failure?.known) == [.closedByUser])
    }

    @Test func `no gate lets go on what somebody has paused or ended meanwhile`() throws {
        for isClosed in [true, false] {
            var (bench, launch) = try Bench.withApp()
            try join(&bench, launch)
            let id = try enqueue(&bench, launch, [1])[0]
            if isClosed {
                bench.ask(.close(AppID("app")))
            } else {
                ask(&bench, launch, .suspend([1]))
            }
            bench.send(.condition(.network, .kernel, .value(0)))
            bench.report(id, .ended(.interrupted(.init(.stopped)), durable: nil))
            #expect(bench.stored(id)?.state == .paused || isClosed)
            #expect(bench.stored(id)?.isEnded == isClosed)
        }
    }

    @Test func `what nobody comes for is kept for thirty days`() throws {
        var (bench, _) = try suspended(tasks: [1], sendsLaunchEvents: false)
        let id = bench.sessionTasks[0]
        finish(&bench, id)
        bench.advance(.days(30) - .seconds(10))
        #expect(bench.stored(id) != nil)
        bench.advance(.minutes(1))
        #expect(bench.stored(id) == nil)
        let file = TransferFile(directory: "/spool", partialName: "\(id).download")
        #expect(bench.contains(.transfer(id, .discard(file))))
    }

    // MARK: Helpers

    private let answer = ExchangeAnswer(
        status: 404,
        headers: [HTTPField("X-A", "b")],
        url: "http://example.org/moved",
        total: 9,
        validator: .entityTag("\"1\"")
    )

    private func order(_ number: Int64) -> SessionOrder {
        SessionOrder(
            task: SessionTask(
                session: Self.session,
                number: number,
                description: "photo \(number)"
            ),
            order: TransferOrder(
                url: "http://example.org/\(number)",
                directory: "/spool",
                overwrites: true,
                errors: .deliver
            )
        )
    }

    private func ask(_ bench: inout Bench, _ launch: LaunchID, _ request: SessionRequest) {
        bench.say(launch, .session(Self.session, request, reply: bench.nextReply()))
    }

    @discardableResult
    private func join(
        _ bench: inout Bench,
        _ launch: LaunchID,
        sendsLaunchEvents: Bool = true
    ) throws -> JoinedTasks {
        ask(&bench, launch, .join(sendsLaunchEvents: sendsLaunchEvents))
        guard case .tasks(let joined) = bench.reply else {
            throw NotJoined()
        }
        return joined
    }

    private struct NotJoined: Error {}

    private func enqueue(
        _ bench: inout Bench,
        _ launch: LaunchID,
        _ numbers: [Int64]
    ) throws -> [TransferID] {
        ask(&bench, launch, .enqueue(numbers.map { order($0) }, token: nil))
        try #require(bench.reply == .done)
        return bench.sessionTasks.suffix(numbers.count)
    }

    private func finish(_ bench: inout Bench, _ id: TransferID) {
        bench.report(id, .ended(.complete(size: 1), durable: 1))
        bench.report(id, .placed(name: "\(id).download"))
    }

    private func leave(_ bench: inout Bench, _ launch: LaunchID) throws {
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.advance(.seconds(5))
        try #require(bench.contains(.freeze(launch)))
    }

    /// An app that has asked for these, and is suspended.
    private func suspended(
        tasks: [Int64],
        sendsLaunchEvents: Bool = true
    ) throws -> (Bench, LaunchID) {
        var (bench, launch) = try Bench.withApp()
        try join(&bench, launch, sendsLaunchEvents: sendsLaunchEvents)
        if !tasks.isEmpty { _ = try enqueue(&bench, launch, tasks) }
        try leave(&bench, launch)
        return (bench, launch)
    }
}
