@testable import DeviceCore
import Testing
import Vocabulary

/// Uploads of apps' sessions.
struct SessionUploadTests {
    private static let source = FileIdentity(size: 100, modified: 5, inode: 7)
    private static let made = UploadResource(url: "http://example.org/made/1", interop: .eight)

    private func order(_ method: UploadMethod) -> SessionOrder {
        let request = UploadRequest(
            method: method,
            source: Self.source,
            mayRepeat: method == .put
        )
        return SessionOrder(
            task: SessionTask(session: "photos", number: 1),
            order: TransferOrder(
                url: "http://example.org/in",
                direction: .upload(request),
                directory: "/home/user",
                name: "photo.jpg",
                errors: .deliver
            )
        )
    }

    private func begun(
        _ method: UploadMethod = .put
    ) throws -> (Bench, LaunchID, TransferID) {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.askSession(launch, .enqueue([order(method)], token: nil))
        return (bench, launch, try #require(bench.sessionTasks.first))
    }

    @Test func `its end has the body of the answer, and its file stays where it is`() throws {
        var (bench, launch, id) = try begun(.post)
        bench.report(id, .progress(received: 60, durable: 0))
        #expect(bench.progress(launch).map(\.received) == [60])
        #expect(bench.progress(launch).map(\.total) == [100])
        var answer = ExchangeAnswer(status: 422, url: "http://example.org/in", total: 100)
        (answer.offset, answer.body) = (100, Bytes(Array("no".utf8)))
        bench.report(id, .answered(answer))
        #expect(bench.progress(launch).isEmpty, "it has not gone on with anything")
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        let end = try #require(bench.ends(launch).first)
        #expect(end.result == .finished && end.status == 422 && end.size == 100)
        #expect(end.body == Bytes(Array("no".utf8)))
        #expect(end.file == nil && end.task.method == "POST")
        bench.say(launch, .acknowledged(id))
        #expect(bench.stored(id) == nil)
        #expect(bench.discarded.isEmpty, "the file is the app's own")
    }

    @Test func `the answer outlives a daemon that ends before the app has heard it`() throws {
        var (bench, launch, id) = try begun()
        var answer = ExchangeAnswer(status: 201, url: "http://example.org/in", total: 100)
        answer.body = Bytes(Array("yes".utf8))
        bench.report(id, .answered(answer))
        bench.report(id, .ended(.complete(size: 100), durable: 100))
        bench.killed(launch, signal: 11)
        try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        let again = try bench.openApp("app")
        bench.askSession(again, .join(sendsLaunchEvents: true))
        #expect(bench.ends(again).map(\.body) == [Bytes(Array("yes".utf8))])
    }

    @Test func `a swiped app's POST is told as closed, whatever was sent of it`() throws {
        var (bench, launch, id) = try begun(.post)
        bench.report(id, .progress(received: 60, durable: 0))
        bench.ask(.close(AppID("app")))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: nil))
        bench.killed(launch, signal: 9)
        let again = try bench.openApp("app")
        bench.askSession(again, .join(sendsLaunchEvents: true))
        #expect(bench.ends(again).compactMap(\.failure?.known) == [.closedByUser])
    }

    @Test func `the server is asked once to forget what it has of one that is cancelled`() throws {
        for isRunning in [true, false] {
            var (bench, launch, id) = try begun()
            bench.report(id, .resource(Self.made))
            if isRunning {
                bench.askSession(launch, .cancel([1]))
                bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
            } else {
                bench.report(id, .ended(.interrupted(.init(.connection)), durable: 0))
                bench.askSession(launch, .cancel([1]))
            }
            let removal = UploadRemoval(resource: Self.made, url: "http://example.org/in")
            #expect(bench.contains(.transfer(id, .remove(removal))))
            #expect(bench.stored(id)?.upload == nil)
        }
    }

    @Test func `a server that may have the whole file is not asked to forget it`() throws {
        for code in [ExchangeFailure.Code.uncertain, .source] {
            var (bench, _, id) = try begun()
            bench.report(id, .resource(Self.made))
            bench.report(id, .ended(.failed(.init(code, reason: "so")), durable: 0))
            let removal = UploadRemoval(resource: Self.made, url: "http://example.org/in")
            #expect(bench.contains(.transfer(id, .remove(removal))) == (code == .source))
        }
    }

    /// So its exchange ends when it is told to stop and the server may have the file.
    @Test func `one that its user ends is no failure, whether the server has it or not`() throws {
        for isClosed in [true, false] {
            var (bench, launch, id) = try begun(.post)
            if isClosed {
                bench.ask(.close(AppID("app")))
            } else {
                bench.askSession(launch, .keep([1]))
            }
            bench.report(id, .ended(.failed(.init(.uncertain, reason: "so")), durable: 0))
            let stored = try #require(bench.stored(id))
            guard case .ended(let end, _) = stored.state else {
                Issue.record("\(stored.state)")
                continue
            }
            if case .failed(let failure) = end {
                #expect(isClosed && failure.code == .closedByUser)
            } else {
                #expect(!isClosed && end == .cancelled)
            }
        }
    }

    // MARK: Resume data

    private func goOn(_ number: Int64, with token: String) -> SessionOrder {
        SessionOrder(
            task: SessionTask(session: "photos", number: number),
            order: TransferOrder(
                url: "http://example.org/in",
                directory: "/spool",
                overwrites: true,
                errors: .deliver
            ),
            resume: token
        )
    }

    private func kept() throws -> (Bench, LaunchID, TransferID, String) {
        var (bench, launch, id) = try begun(.post)
        bench.report(id, .resource(Self.made))
        bench.report(id, .progress(received: 60, durable: 40))
        bench.askSession(launch, .keep([1]))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 40))
        #expect(!bench.isRemoved(id), "it is of use yet")
        let end = try #require(bench.ends(launch).first)
        #expect(end.result == .cancelled && end.task.method == "POST")
        bench.say(launch, .acknowledged(id))
        return (bench, launch, id, try #require(end.resume))
    }

    @Test func `a new task goes on where the server has the upload of a cancelled one`() throws {
        var (bench, launch, id, token) = try kept()
        bench.askSession(launch, .enqueue([goOn(2, with: token)], token: nil))
        let next = try #require(bench.sessionTasks.first)
        let uploads = bench.effects.compactMap { effect -> (UploadOrder, UploadFile)? in
            if case .transfer(next, .upload(let order, let file)) = effect {
                (order, file)
            } else {
                nil
            }
        }
        let (order, file) = try #require(uploads.first)
        #expect(order.resource?.url == Self.made.url && order.resource?.offset == 40)
        #expect(order.method == .post && order.source == Self.source)
        #expect(file.directory == "/home/user" && file.name == "photo.jpg")
        #expect(bench.stored(id) == nil && !bench.isRemoved(id))
        // Once.
        bench.askSession(launch, .enqueue([goOn(3, with: token)], token: nil))
        #expect(bench.ends(launch).compactMap(\.failure?.known) == [.resumeGone])
    }

    @Test func `what nobody goes on with the server is asked to forget after a week`() throws {
        var (bench, _, id, _) = try kept()
        bench.advance(.days(6))
        #expect(bench.stored(id) != nil)
        bench.advance(.days(1))
        #expect(bench.stored(id) == nil && bench.isRemoved(id))
    }

    @Test func `a server that supports no resumption leaves nothing to go on with`() throws {
        var (bench, launch, id) = try begun()
        bench.report(id, .progress(received: 60, durable: 0))
        bench.askSession(launch, .keep([1]))
        bench.report(id, .ended(.interrupted(.init(.stopped)), durable: 0))
        #expect(bench.ends(launch).map(\.resume) == [nil])
    }
}
