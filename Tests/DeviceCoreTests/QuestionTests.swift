@testable import DeviceCore
import Testing
import Vocabulary

/// What transfers ask their apps, who is asked when, and what becomes of the answer.
struct QuestionTests {
    private static let url = "http://example.org/1"

    private func order(_ number: Int64, earliest: WallTime? = nil) -> SessionOrder {
        SessionOrder(
            task: SessionTask(session: "photos", number: number),
            order: TransferOrder(
                url: "http://example.org/\(number)",
                headers: [HTTPField("Token", "old")],
                directory: "/spool",
                overwrites: true,
                earliest: earliest,
                errors: .deliver
            )
        )
    }

    private func begun(answers: Bool = true, _ numbers: [Int64] = [1]) throws -> (Bench, LaunchID) {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true, answers: answers))
        bench.askSession(launch, .enqueue(numbers.map { order($0) }, token: nil))
        return (bench, launch)
    }

    private func refusal(
        _ url: String = Self.url,
        _ challenge: String = "Basic realm=\"r\""
    ) -> ExchangeAnswer {
        ExchangeAnswer(
            status: 401,
            headers: [HTTPField("WWW-Authenticate", challenge)],
            url: url
        )
    }

    private func refuse(_ bench: inout Bench, _ id: TransferID, _ url: String = Self.url) {
        bench.report(id, .ended(.challenged(refusal(url)), durable: 0))
    }

    private func leave(_ bench: inout Bench, _ launch: LaunchID) throws {
        bench.ask(.leave(AppID("app")))
        bench.say(launch, .enteredBackground)
        bench.advance(.seconds(5))
        try #require(bench.contains(.freeze(launch)))
    }

    private func answer(
        _ bench: inout Bench,
        _ launch: LaunchID,
        _ question: TaskQuestion,
        _ answer: TransferAnswer
    ) {
        bench.askSession(launch, .answer(UInt64(question.question), answer))
    }

    // MARK: Who is asked

    @Test func `an app that listens is asked at once, and the transfer waits`() throws {
        var (bench, launch) = try begun()
        let id = bench.sessionTasks[0]
        #expect(bench.begun(id)?.reportsChallenges == true)
        refuse(&bench, id)
        let question = try #require(bench.questions(launch).first)
        #expect(question.kind == .unauthorized && question.task.task == 1)
        #expect(question.status == 401 && question.url == Self.url && question.failures == 0)
        bench.advance(.hours(5))
        #expect(bench.begun(id) == nil && bench.transfer(id)?.isUnderWay == false)
        let explained = try #require(bench.device.explain(id, at: bench.now))
        #expect(explained.holds.map(\.gate) == ["answer"])
        #expect(
            explained.sentence
                == "transfer \(id) waits: its app has to answer a challenge of example.org "
                + "(status 401)."
        )
    }

    @Test func `where nobody answers the refusal is what was asked for`() throws {
        let (bench, launch) = try begun(answers: false)
        let id = bench.sessionTasks[0]
        #expect(bench.begun(id)?.reportsChallenges == false)
        #expect(bench.questions(launch).isEmpty)
    }

    @Test func `a suspended app is resumed for a question, while its other tasks go on`() throws {
        var (bench, launch) = try begun([1, 2])
        let ids = bench.sessionTasks
        try leave(&bench, launch)
        refuse(&bench, ids[0])
        #expect(bench.contains(.thaw(launch)))
        #expect(bench.offered(launch).map(\.kind) == [.trigger(.sessionEvents)])
        #expect(bench.questions(launch).isEmpty, "it hears first why it was resumed")
        let delivery = try bench.accept(launch, handler: false)
        let question = try #require(bench.questions(launch).first)
        bench.say(launch, .completed(delivery, .succeeded))
        // It may be answered at any time: nobody wakes the app for it again.
        bench.advance(.hours(5))
        #expect(bench.offers(launch).isEmpty)
        bench.ask(.open(AppID("app"), attach: nil))
        answer(&bench, launch, question, .proceed(isIgnored: false))
        #expect(bench.begun(ids[0])?.reportsChallenges == false)
    }

    @Test func `a question outlives its app and the daemon, under the same number`() throws {
        var (bench, launch) = try begun()
        let id = bench.sessionTasks[0]
        refuse(&bench, id)
        let question = try #require(bench.questions(launch).first)
        bench.killed(launch, signal: 11)
        try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        #expect(bench.begun(id) == nil && bench.stored(id)?.isEnded == false)
        let again = try bench.openApp("app")
        bench.askSession(again, .join(sendsLaunchEvents: true, answers: true))
        guard case .tasks(let joined) = bench.reply else {
            Issue.record("it has not joined")
            return
        }
        #expect(joined.missed == 1)
        #expect(bench.questions(again).map(\.question) == [question.question])
        let request = TransferAnswer.request(
            url: Self.url,
            headers: [HTTPField("Token", "new")]
        )
        answer(&bench, again, question, request)
        #expect(bench.begun(id)?.headers == [HTTPField("Token", "new")])
        // What it was asked for first is what the app knows it by.
        #expect(bench.stored(id)?.taskReport?.headers == [HTTPField("Token", "old")])
        #expect(bench.stored(id)?.taskReport?.currentHeaders == [HTTPField("Token", "new")])
    }

    @Test func `that a request wants no cookies is known to each process of its app`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
        let task = SessionTask(session: "photos", number: 1, ignoresCookies: true)
        let wanted = SessionOrder(task: task, order: order(1).order)
        bench.askSession(launch, .enqueue([wanted], token: nil))
        let id = bench.sessionTasks[0]
        refuse(&bench, id)
        let question = try #require(bench.questions(launch).first)
        bench.killed(launch, signal: 11)
        try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        let again = try bench.openApp("app")
        bench.askSession(again, .join(sendsLaunchEvents: true, answers: true))
        guard case .tasks(let joined) = bench.reply else {
            Issue.record("it has not joined")
            return
        }
        #expect(joined.tasks.map(\.ignoresCookies) == [true])
        #expect(joined.tasks.map(\.currentIgnoresCookies) == [nil])
        answer(&bench, again, question, .request(url: Self.url, headers: []))
        let renewed = try #require(bench.stored(id)?.taskReport)
        #expect(renewed.ignoresCookies == true && renewed.currentIgnoresCookies == nil)
    }

    @Test func `who loses its connection is asked again`() throws {
        var (bench, launch) = try begun()
        refuse(&bench, bench.sessionTasks[0])
        bench.say(launch, .disconnected)
        bench.say(launch, .reconnected(running: [], finished: [], reply: bench.nextReply()))
        #expect(bench.questions(launch).isEmpty, "it has not joined")
        bench.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
        #expect(bench.questions(launch).count == 1)
    }

    @Test func `an app that has nobody for questions is not woken for the next`() throws {
        var (bench, launch) = try begun([1, 2])
        let ids = bench.sessionTasks
        refuse(&bench, ids[0])
        let question = try #require(bench.questions(launch).first)
        answer(&bench, launch, question, .proceed(isIgnored: true))
        try leave(&bench, launch)
        refuse(&bench, ids[1], "http://example.org/2")
        #expect(!bench.contains(.thaw(launch)))
        #expect(bench.begun(ids[1])?.reportsChallenges == false)
        // One that listens is asked all the same: it may be of a later version.
        bench.ask(.open(AppID("app"), attach: nil))
        bench.askSession(launch, .enqueue([order(3)], token: nil))
        let third = try #require(bench.sessionTasks.last)
        refuse(&bench, third, "http://example.org/3")
        #expect(bench.questions(launch).count == 1)
    }

    // MARK: What an answer does

    @Test func `an answer counts once, and one to another question not at all`() throws {
        var (bench, launch) = try begun([1, 2])
        let ids = bench.sessionTasks
        refuse(&bench, ids[0])
        let first = try #require(bench.questions(launch).first)
        refuse(&bench, ids[1], "http://example.org/2")
        bench.askSession(launch, .answer(UInt64(first.question) + 1000, .cancel))
        bench.askSession(
            launch,
            .answer(UInt64(first.question), .cancel),
            of: "another session"
        )
        #expect(bench.stored(ids[0])?.isEnded == false)
        answer(&bench, launch, first, .proceed(isIgnored: false))
        #expect(bench.stored(ids[1])?.question != nil)
        answer(&bench, launch, first, .cancel)
        #expect(bench.stored(ids[0])?.isEnded == false && bench.stored(ids[1])?.isEnded == false)
    }

    @Test func `a login goes to the server that asked, and is forgotten with the task`() throws {
        var (bench, launch) = try begun()
        let id = bench.sessionTasks[0]
        refuse(&bench, id)
        let question = try #require(bench.questions(launch).first)
        answer(&bench, launch, question, .login(7, scheme: nil, forSession: false))
        let logins = try #require(bench.file(id)?.logins)
        #expect(logins.map(\.number) == [7] && logins[0].url == "http://example.org:80/")
        #expect(logins[0].challenge.realm == "r")
        // Refused, it is asked again, and told how often.
        refuse(&bench, id)
        let again = try #require(bench.questions(launch).first)
        #expect(again.failures == 1 && again.question != question.question)
        answer(&bench, launch, again, .login(8, scheme: "basic", forSession: false))
        #expect(bench.file(id)?.logins.map(\.number) == [8])
        #expect(bench.contains(.transfer(id, .forget([7]))))
        bench.report(id, .ended(.complete(size: 1), durable: 1))
        bench.report(id, .placed(name: "\(id).download"))
        #expect(bench.contains(.transfer(id, .forget([8]))))
    }

    @Test func `a login for the session answers for all its tasks, until it is refused`() throws {
        var (bench, launch) = try begun([1, 2, 3])
        let ids = bench.sessionTasks
        refuse(&bench, ids[0])
        let question = try #require(bench.questions(launch).first)
        bench.advance(.seconds(1))
        answer(&bench, launch, question, .login(7, scheme: nil, forSession: true))
        // It was refused before it could show the login.
        bench.advance(.seconds(1))
        refuse(&bench, ids[1], "http://example.org/2")
        #expect(bench.questions(launch).isEmpty)
        #expect(bench.file(ids[1])?.logins.map(\.number) == [7])
        bench.advance(.seconds(1))
        refuse(&bench, ids[1], "http://example.org/2")
        #expect(bench.questions(launch).map(\.failures) == [0])
        #expect(bench.contains(.transfer(ids[1], .forget([7]))))
    }

    @Test func `a daemon that starts anew knows no password, and asks again`() throws {
        var (bench, launch) = try begun()
        let id = bench.sessionTasks[0]
        refuse(&bench, id)
        let question = try #require(bench.questions(launch).first)
        answer(&bench, launch, question, .login(7, scheme: nil, forSession: true))
        #expect(bench.file(id)?.logins.map(\.number) == [7])
        bench.killed(launch, signal: 11)
        try bench.restart(manifests: [.linked("app", identifiers: Bench.identifiers)])
        #expect(bench.file(id)?.logins == [])
        #expect(bench.begun(id)?.reportsChallenges == true)
    }

    @Test func `an app whose answers are never taken is not asked for ever`() throws {
        var (bench, launch) = try begun()
        let id = bench.sessionTasks[0]
        var asked = 0
        while asked < 100 {
            refuse(&bench, id)
            guard let question = bench.questions(launch).first else { break }
            asked += 1
            answer(&bench, launch, question, .login(UInt64(asked), scheme: nil, forSession: false))
        }
        #expect(asked == 16)
        #expect(bench.begun(id)?.reportsChallenges == false)
    }

    @Test func `a request that cannot be sent fails its task`() throws {
        var (bench, launch) = try begun()
        let id = bench.sessionTasks[0]
        refuse(&bench, id)
        let question = try #require(bench.questions(launch).first)
        answer(&bench, launch, question, .request(url: "ftp://a/b", headers: []))
        #expect(bench.ends(launch).compactMap(\.failure?.known) == [.badURL])
        #expect(bench.stored(id)?.question == nil)
    }

    @Test func `nothing of one URL is gone on with under another`() throws {
        var (bench, launch) = try begun()
        let id = bench.sessionTasks[0]
        let answer = ExchangeAnswer(
            status: 200,
            url: Self.url,
            total: 9,
            validator: .entityTag("\"1\"")
        )
        bench.report(id, .answered(answer))
        bench.report(id, .progress(received: 5, durable: 5))
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: 5))
        bench.advance(.seconds(5))
        #expect(bench.begun(id)?.resume?.offset == 5)
        refuse(&bench, id)
        let question = try #require(bench.questions(launch).first)
        self.answer(&bench, launch, question, .request(url: Self.url + "?new", headers: []))
        #expect(bench.begun(id)?.url == Self.url + "?new")
        #expect(bench.begun(id)?.resume == nil)
    }

    @Test func `a task that is suspended or cancelled asks nothing any more`() throws {
        var (bench, launch) = try begun([1, 2])
        let ids = bench.sessionTasks
        refuse(&bench, ids[0])
        let question = try #require(bench.questions(launch).first)
        bench.askSession(launch, .suspend([1]))
        answer(&bench, launch, question, .proceed(isIgnored: false))
        #expect(bench.stored(ids[0])?.state == .paused)
        bench.askSession(launch, .resume([1]))
        #expect(bench.begun(ids[0])?.reportsChallenges == true)
        refuse(&bench, ids[1], "http://example.org/2")
        bench.askSession(launch, .cancel([2]))
        #expect(bench.ends(launch).compactMap(\.result.known) == [.cancelled])
    }

    @Test func `a question does not outlive the time of its task`() throws {
        var (bench, launch) = try begun()
        let id = bench.sessionTasks[0]
        refuse(&bench, id)
        bench.advance(.days(7) + .seconds(1))
        #expect(bench.ends(launch).compactMap(\.failure?.known) == [.timedOut])
        #expect(bench.stored(id)?.question == nil)
    }

    @Test func `many questions are asked a few at a time`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
        let date = bench.now.wall + .hours(1)
        let orders = (1...100).map { order($0, earliest: date) }
        bench.askSession(launch, .enqueue(orders, token: nil))
        bench.advance(.hours(1) + .seconds(1))
        var questions = bench.questions(launch)
        #expect(questions.count == 32 && questions.last?.remaining == 68)
        var answered = 0
        while let next = questions.first {
            questions.removeFirst()
            answer(&bench, launch, next, .cancel)
            answered += 1
            questions += bench.questions(launch)
        }
        #expect(answered == 100)
    }

    // MARK: Dates

    @Test func `a task whose date has come begins when its app says so`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
        let date = bench.now.wall + .hours(1)
        bench.askSession(launch, .enqueue([order(1, earliest: date)], token: nil))
        let id = try #require(bench.sessionTasks.first)
        bench.advance(.minutes(59))
        #expect(bench.questions(launch).isEmpty)
        bench.advance(.minutes(1) + .seconds(1))
        let question = try #require(bench.questions(launch).first)
        #expect(question.kind == .delayed && question.status == nil)
        bench.advance(.hours(1))
        #expect(bench.begun(id) == nil)
        answer(
            &bench,
            launch,
            question,
            .request(url: "http://other.org/x", headers: [HTTPField("A", "b")])
        )
        #expect(bench.begun(id)?.url == "http://other.org/x")
        // It is asked once, however often it is interrupted.
        bench.report(id, .ended(.interrupted(.init(.connection)), durable: nil))
        bench.advance(.seconds(5))
        #expect(bench.questions(launch).isEmpty && bench.transfer(id)?.isUnderWay == true)
    }

    @Test func `a date that a clock set forward has passed is a question all the same`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
        let date = bench.now.wall + .hours(1)
        bench.askSession(launch, .enqueue([order(1, earliest: date)], token: nil))
        bench.now.wall = bench.now.wall + .days(1)
        bench.send(.clockChanged)
        bench.advance(.seconds(1))
        let question = try #require(bench.questions(launch).first)
        #expect(question.kind == .delayed)
    }

    @Test func `a date that has passed when the task is resumed is no question`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
        let date = bench.now.wall - .hours(1)
        bench.askSession(launch, .enqueue([order(1, earliest: date)], token: nil))
        #expect(bench.questions(launch).isEmpty)
        #expect(bench.begun(try #require(bench.sessionTasks.first)) != nil)
    }

    @Test func `an app is launched when a date has come, if it wants to be`() throws {
        for wants in [true, false] {
            var (bench, launch) = try Bench.withApp()
            bench.askSession(
                launch,
                .join(sendsLaunchEvents: true, answers: true, launchesForDelays: wants)
            )
            let date = bench.now.wall + .hours(3)
            bench.askSession(launch, .enqueue([order(1, earliest: date)], token: nil))
            let id = try #require(bench.sessionTasks.first)
            try leave(&bench, launch)
            bench.killed(launch, signal: 11)
            bench.advance(.hours(2))
            #expect(bench.spawn(of: "app") == nil)
            bench.advance(.hours(1) + .seconds(1))
            #expect((bench.spawn(of: "app") != nil) == wants)
            #expect((bench.begun(id) == nil) == wants)
        }
    }

    // MARK: Uploads

    @Test func `an upload whose app wants the refusal is not sent again for it`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
        let request = UploadRequest(
            method: .post,
            source: FileIdentity(size: 100, modified: 5, inode: 7),
            mayRepeat: false
        )
        let upload = SessionOrder(
            task: SessionTask(session: "photos", number: 1),
            order: TransferOrder(
                url: Self.url,
                direction: .upload(request),
                directory: "/home/user",
                name: "photo.jpg",
                errors: .deliver
            )
        )
        bench.askSession(launch, .enqueue([upload], token: nil))
        let id = try #require(bench.sessionTasks.first)
        var refused = refusal()
        refused.body = Bytes(Array("who?".utf8))
        bench.report(id, .ended(.challenged(refused), durable: 0))
        let first = try #require(bench.questions(launch).first)
        // The server has refused it: a POST may be sent again.
        answer(&bench, launch, first, .login(1, scheme: nil, forSession: false))
        #expect(bench.transfer(id)?.isUnderWay == true)
        bench.report(id, .ended(.challenged(refused), durable: 0))
        let second = try #require(bench.questions(launch).first)
        answer(&bench, launch, second, .proceed(isIgnored: false))
        #expect(bench.transfer(id)?.isUnderWay == false)
        let end = try #require(bench.ends(launch).first)
        #expect(end.result == .finished && end.status == 401)
        #expect(end.body == Bytes(Array("who?".utf8)))
    }

    // MARK: Priorities

    @Test func `the more urgent of an app's own tasks go first`() throws {
        var (bench, launch) = try Bench.withApp()
        bench.askSession(launch, .join(sendsLaunchEvents: true))
        bench.configure { $0.transferSlots = 1 }
        let orders = [Int64](1...4).map { number in
            let task = SessionTask(
                session: "photos",
                number: number,
                priority: number == 3 ? 250 : number == 1 ? -250 : 0
            )
            return SessionOrder(task: task, order: order(number).order)
        }
        bench.send(.condition(.network, .kernel, .value(0)))
        bench.askSession(launch, .enqueue(orders, token: nil))
        // Also for a daemon that comes after.
        bench.askSession(launch, .prioritize([4], 500))
        bench.send(.condition(.network, .kernel, .value(2)))
        var begun: [Int64] = []
        for _ in 0..<4 {
            let running = bench.device.transfers.all().first(where: \.isRunning)
            let id = try #require(running?.id)
            begun.append(running?.task?.number ?? 0)
            bench.report(id, .ended(.complete(size: 1), durable: 1))
            bench.report(id, .placed(name: "\(id).download"))
        }
        #expect(begun == [4, 3, 2, 1])
        #expect(bench.sessionTasks.isEmpty)
    }
}
