@testable import DeviceCore
import Testing
import Vocabulary

/// Resume data: what has come of a download is kept for its app, which goes on with it once.
struct KeptPartTests {
    private static let stopped = TransferEvent.ended(.interrupted(.init(.stopped)), durable: 5)
    private let answer = ExchangeAnswer(
        status: 200,
        url: "http://example.org/1",
        total: 9,
        validator: .entityTag("\"1\"")
    )

    private func order(_ number: Int64, resume: String? = nil) -> SessionOrder {
        SessionOrder(
            task: SessionTask(session: "photos", number: number),
            order: TransferOrder(
                url: "http://example.org/1",
                directory: "/spool",
                overwrites: true,
                errors: .deliver
            ),
            resume: resume
        )
    }

    /// A task of which five bytes are there.
    private func begun() throws -> (Bench, LaunchID, TransferID) {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.askSession(launch, .enqueue([order(1)], token: nil))
        let id = try #require(bench.sessionTasks.first)
        bench.report(id, .answered(answer))
        bench.report(id, .progress(received: 6, durable: 5))
        return (bench, launch, id)
    }

    private func part(of id: TransferID) -> TransferFile {
        TransferFile(directory: "/spool", partialName: ".offstage-\(id).part")
    }

    private func kept() throws -> (Bench, LaunchID, TransferID, String) {
        var (bench, launch, id) = try begun()
        bench.askSession(launch, .keep([1]))
        #expect(bench.contains(.transfer(id, .stop)))
        bench.report(id, Self.stopped)
        let end = try #require(bench.ends(launch).first)
        #expect(end.result == .cancelled && end.task.received == 5)
        #expect(!bench.contains(.transfer(id, .discard(part(of: id)))))
        let token = try #require(end.resume)
        bench.say(launch, .acknowledged(id))
        #expect(bench.stored(id)?.isAcknowledged == true)
        return (bench, launch, id, token)
    }

    private func beginning(_ bench: Bench, _ id: TransferID) -> (ExchangeOrder, TransferFile)? {
        for case .transfer(id, .begin(let order, let file)) in bench.effects {
            return (order, file)
        }
        return nil
    }

    @Test func `a new task goes on with what has come of a cancelled one`() throws {
        for restarts in [false, true] {
            var (bench, first, old, token) = try kept()
            var launch = first
            if restarts {
                bench.killed(launch, signal: 11)
                try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
                launch = try bench.openApp("app")
                let joined = bench.askSession(launch, .join(sendsLaunchEvents: true))
                #expect(joined == .tasks(JoinedTasks(tasks: [], missed: 0)))
                #expect(bench.ends(launch).isEmpty, "it has been told")
            }
            bench.askSession(launch, .enqueue([order(2, resume: token)], token: nil))
            let id = try #require(bench.sessionTasks.first)
            let (exchange, file) = try #require(beginning(bench, id))
            #expect(exchange.resume?.offset == 5 && exchange.resume?.total == 9)
            #expect(exchange.resume?.validator == answer.validator)
            #expect(file == part(of: old))
            #expect(bench.stored(old) == nil)
            #expect(!bench.contains(.transfer(old, .discard(part(of: old)))))
            bench.report(id, .ended(.complete(size: 9), durable: 9))
            #expect(bench.placed[id]?.file == part(of: old))
            bench.report(id, .placed(name: "\(id).download"))
            #expect(bench.ends(launch).map(\.task.task) == [2])
        }
    }

    @Test func `it goes on over the networks that it was for, and with its time-out`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        var first = order(1).order
        (first.needs.unmetered, first.timeout) = (true, .seconds(7))
        let task = SessionTask(session: "photos", number: 1)
        bench.askSession(
            launch,
            .enqueue([SessionOrder(task: task, order: first, resume: nil)], token: nil)
        )
        let old = try #require(bench.sessionTasks.first)
        bench.report(old, .answered(answer))
        bench.report(old, .progress(received: 6, durable: 5))
        bench.askSession(launch, .keep([1]))
        bench.report(old, Self.stopped)
        let token = try #require(bench.ends(launch).first?.resume)
        bench.send(.condition(.metered, .kernel, .value(1)))
        bench.askSession(launch, .enqueue([order(2, resume: token)], token: nil))
        let id = try #require(bench.sessionTasks.last)
        #expect(beginning(bench, id) == nil && bench.transferGates(id) == ["metered"])
        bench.send(.condition(.metered, .kernel, .value(0)))
        bench.advance(.minutes(1))
        #expect(bench.stored(id)?.order.timeout == .seconds(7))
        #expect(bench.transfer(id)?.isUnderWay == true)
    }

    @Test func `it is gone on with once, and by its own app`() throws {
        var (bench, launch, old, token) = try kept()
        bench.install(.linked("other", identifiers: []))
        let other = try bench.openApp("other")
        bench.askSession(other, .join(sendsLaunchEvents: true))
        bench.askSession(other, .enqueue([order(7, resume: token)], token: nil))
        #expect(bench.ends(other).compactMap(\.failure?.known) == [.resumeGone])
        #expect(bench.stored(old)?.kept != nil)
        bench.askSession(
            launch,
            .enqueue([order(2, resume: token), order(3, resume: token)], token: nil)
        )
        #expect(bench.ends(launch).map(\.task.task) == [3])
        #expect(bench.ends(launch).compactMap(\.failure?.known) == [.resumeGone])
        #expect(bench.sessionTasks.count == 1)
    }

    @Test func `an app may go on before it has acknowledged the end`() throws {
        var (bench, launch, old) = try begun()
        bench.askSession(launch, .keep([1]))
        bench.report(old, Self.stopped)
        let token = try #require(bench.ends(launch).first?.resume)
        bench.askSession(launch, .enqueue([order(2, resume: token)], token: nil))
        let id = try #require(bench.sessionTasks.first)
        #expect(beginning(bench, id)?.1 == part(of: old))
        #expect(bench.stored(old)?.kept == nil && bench.stored(old) != nil)
        bench.say(launch, .acknowledged(old))
        #expect(bench.stored(old) == nil)
        #expect(!bench.contains(.transfer(old, .discard(part(of: old)))))
    }

    @Test func `what nobody comes for is removed after a week`() throws {
        var (bench, _, id, _) = try kept()
        bench.advance(.days(7) - .minutes(1))
        #expect(bench.stored(id) != nil)
        bench.advance(.minutes(1))
        #expect(bench.contains(.transfer(id, .discard(part(of: id)))))
        // Until the file is surely gone it is on record.
        #expect(bench.stored(id)?.kept == nil && bench.stored(id) != nil)
        bench.advance(.minutes(1))
        #expect(bench.stored(id) == nil)
    }

    @Test func `a daemon that starts removes what the one before may have left`() throws {
        // Kept: it stays.
        var (bench, launch, old) = try begun()
        bench.askSession(launch, .keep([1]))
        bench.report(old, Self.stopped)
        var waiting = bench
        try waiting.restart()
        #expect(!waiting.contains(.transfer(old, .discard(part(of: old)))))
        // Another goes on in its file: it stays.
        let token = try #require(bench.ends(launch).first?.resume)
        bench.askSession(launch, .enqueue([order(2, resume: token)], token: nil))
        let id = try #require(bench.sessionTasks.first)
        var going = bench
        try going.restart()
        for owner in [old, id] {
            #expect(!going.contains(.transfer(owner, .discard(part(of: old)))))
        }
        // That has been cancelled too.
        bench.askSession(launch, .cancel([2]))
        bench.report(id, Self.stopped)
        #expect(bench.stored(id)?.isEnded == true)
        try bench.restart()
        #expect(bench.contains(.transfer(id, .discard(part(of: old)))))
    }

    @Test func `a swipe and a time-out keep what has come`() throws {
        for isSwiped in [true, false] {
            var (bench, launch, id) = try begun()
            if isSwiped {
                bench.ask(.close(AppID("app")))
                bench.report(id, Self.stopped)
                bench.killed(launch, signal: 9)
                launch = try bench.openApp("app")
                bench.askSession(launch, .join(sendsLaunchEvents: true))
            } else {
                bench.advance(.days(7))
                bench.report(id, Self.stopped)
            }
            let end = try #require(bench.ends(launch).first)
            let failure: TransferFailureName = isSwiped ? .closedByUser : .timedOut
            #expect(end.failure?.known == failure)
            #expect(end.resume != nil)
        }
    }

    @Test func `a plain cancel keeps nothing, and neither does a server without versions`() throws {
        var (bench, launch, id) = try begun()
        bench.askSession(launch, .cancel([1]))
        bench.report(id, Self.stopped)
        #expect(bench.ends(launch).map(\.resume) == [nil])
        #expect(bench.contains(.transfer(id, .discard(part(of: id)))))
        bench.say(launch, .acknowledged(id))
        bench.askSession(launch, .enqueue([order(2)], token: nil))
        let other = try #require(bench.sessionTasks.first)
        bench.report(other, .answered(ExchangeAnswer(status: 200, url: "http://a", total: 9)))
        bench.report(other, .progress(received: 6, durable: 5))
        bench.askSession(launch, .keep([2]))
        bench.report(other, Self.stopped)
        #expect(bench.ends(launch).map(\.resume) == [nil])
        bench.say(launch, .acknowledged(other))
        #expect(bench.stored(other) == nil)
    }
}
