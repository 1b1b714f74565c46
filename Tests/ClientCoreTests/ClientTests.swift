import AppProtocol
import ClientCore
import Testing
import Vocabulary

/// The library's side of the protocol, without a socket, a thread or a clock.
struct ClientTests {
    var client = Client(ticks: 3)

    private mutating func take(_ event: ClientEvent) -> [ClientEffect] {
        var effects: [ClientEffect] = []
        client.take(event, into: &effects)
        return effects
    }

    private func numbers(_ effects: [ClientEffect]) -> [CallNumber] {
        effects.compactMap { if case .send(let number, _) = $0 { number } else { nil } }
    }

    private func calls(_ effects: [ClientEffect]) -> [App1] {
        effects.compactMap { if case .send(_, let call) = $0 { call } else { nil } }
    }

    private static let greeting = Greeting(
        app: AppID("app"),
        launch: LaunchID(1),
        state: .background,
        backgroundRefresh: .available
    )

    /// Connected, greeted and launched.
    private mutating func launch() {
        _ = take(.greet(CallerToken(1)))
        let hello = numbers(take(.connected))
        _ = take(.answered(hello[0], .success(.greeting(Self.greeting))))
        _ = take(.finishedLaunching(registered: ["refresh"]))
    }

    private func offer(_ delivery: DeliveryID) -> AppObject1 {
        .offer(
            AppObject1.Offer {
                ($0.delivery, $0.kind, $0.identifier) = (delivery, Word(.refresh), "refresh")
            }
        )
    }

    private func go(_ delivery: DeliveryID) -> AppObject1 {
        .go(AppObject1.Go { $0.delivery = delivery })
    }

    private func isRun(_ effect: ClientEffect) -> Bool {
        if case .run = effect { true } else { false }
    }

    @Test("a call for now fails with the attempt to connect")
    mutating func callFailsWithoutADaemon() {
        let call = App1.cancel(App1.Cancel())
        #expect(take(.call(call, .now, CallerToken(7))) == [.connect])
        let error = CallError(.unreachable, "nobody")
        #expect(
            take(.notConnected(error))
                == [.unreachable, .answer(CallerToken(7), .failure(error))]
        )
    }

    @Test("a kept call is made again until it is answered, once on each connection")
    mutating func keptCallIsRepeated() {
        launch()
        let call = App1.endTask(App1.EndTask { $0.task = 4 })
        let first = numbers(take(.call(call, .kept, CallerToken(2))))
        #expect(first.count == 1)
        #expect(take(.disconnected) == [.watch])
        #expect(take(.look) == [.connect])
        let again = take(.connected)
        #expect(numbers(again).last == first[0] && calls(again).last == call)
        #expect(
            take(.answered(first[0], .success(.nothing)))
                == [.answer(CallerToken(2), .success(.nothing))]
        )
        _ = take(.disconnected)
        _ = take(.look)
        #expect(calls(take(.connected)).count == 1, "hello alone")
    }

    /// Who makes those has few without an answer: one that is refused would be lost.
    @Test("so much is kept without a daemon, and changes of tasks besides")
    mutating func changesOfTasksAreKeptBesides() {
        let end = App1.endTask(App1.EndTask { $0.task = 4 })
        for number: UInt64 in 1...1024 { _ = take(.call(end, .kept, CallerToken(number))) }
        #expect(take(.call(end, .kept, CallerToken(2000))).count == 1, "a refusal")
        let change = App1.changeTasks(App1.ChangeTasks { $0.tasks = [7] })
        #expect(take(.call(change, .kept, CallerToken(2001))) == [])
        let sent = calls(take(.connected))
        #expect(sent.count == 1025 && sent.last == change)
    }

    @Test("work runs with the first go, and with no other")
    mutating func workRunsOnce() {
        launch()
        let delivery = DeliveryID(5)
        #expect(
            take(.called(offer(delivery), IncomingNumber(1), hasHandler: true))
                == [.reply(IncomingNumber(1))]
        )
        let begun = take(.called(go(delivery), IncomingNumber(2), hasHandler: false))
        #expect(begun.contains(where: isRun))
        _ = take(.disconnected)
        _ = take(.look)
        guard case .hello(let hello)? = calls(take(.connected)).first else {
            Issue.record("no hello")
            return
        }
        #expect(hello.running == [delivery])
        #expect(
            take(.called(go(delivery), IncomingNumber(3), hasHandler: false))
                == [.reply(IncomingNumber(3))]
        )
    }

    @Test("an end is told with each hello until the daemon has it")
    mutating func endIsToldUntilItIsKnown() {
        launch()
        let delivery = DeliveryID(5)
        _ = take(.called(offer(delivery), IncomingNumber(1), hasHandler: true))
        _ = take(.called(go(delivery), IncomingNumber(2), hasHandler: false))
        #expect(calls(take(.complete(delivery, .newData))).count == 1)
        for _ in 0..<2 {
            _ = take(.disconnected)
            _ = take(.look)
            guard case .hello(let hello)? = calls(take(.connected)).first else {
                Issue.record("no hello")
                return
            }
            #expect(hello.finished == [App1.Finished(delivery, .newData)])
        }
        _ = take(.disconnected)
        _ = take(.look)
        let number = numbers(take(.connected))
        _ = take(.answered(number[0], .success(.greeting(Self.greeting))))
        _ = take(.disconnected)
        _ = take(.look)
        guard case .hello(let hello)? = calls(take(.connected)).first else {
            Issue.record("no hello")
            return
        }
        #expect(hello.finished == [])
    }

    @Test("what has no handler is refused")
    mutating func offerWithoutAHandlerIsRefused() {
        launch()
        let effects = take(.called(offer(DeliveryID(5)), IncomingNumber(1), hasHandler: false))
        #expect(
            effects == [
                .refuse(IncomingNumber(1), .notFound, "nothing is registered for refresh")
            ]
        )
    }

    @Test("hello is said again while the daemon cannot store it")
    mutating func helloIsRepeatedWhileTheDiskIsFull() {
        _ = take(.greet(CallerToken(1)))
        let first = numbers(take(.connected))
        let full = CallError(.refused(.storage), "the disk is full")
        #expect(
            take(.answered(first[0], .failure(full))) == [
                .log("the disk is full"), .answer(CallerToken(1), .failure(full)),
            ]
        )
        // The launch is over by then.
        _ = take(.finishedLaunching(registered: ["refresh"]))
        let second = take(.tick)
        guard case .hello(let hello)? = calls(second).first else {
            Issue.record("no hello")
            return
        }
        #expect(hello.registered == ["refresh"])
        #expect(take(.answered(numbers(second)[0], .failure(full))) == [.armTicker])
        let third = numbers(take(.tick))
        #expect(
            take(.answered(third[0], .success(.greeting(Self.greeting))))
                == [.greeted(Self.greeting)]
        )
        #expect(take(.tick) == [])
    }

    /// Of a launch for a URL.
    private static var opening: Greeting {
        var greeting = greeting
        (greeting.urls, greeting.opening) = (["news:1"], 1)
        return greeting
    }

    private static let openURLs = AppObject1.openURLs(
        AppObject1.OpenURLs { ($0.opening, $0.urls) = (1, ["news:1"]) }
    )

    @Test("an app that waits for its greeting has the URLs from there, and from nowhere else")
    mutating func awaitedGreetingHasURLs() {
        _ = take(.greet(CallerToken(1)))
        let hello = numbers(take(.connected))
        #expect(
            take(.answered(hello[0], .success(.greeting(Self.opening)))).contains(
                .answer(CallerToken(1), .success(.greeting(Self.opening)))
            )
        )
        #expect(
            take(.called(Self.openURLs, IncomingNumber(1), hasHandler: false))
                == [.reply(IncomingNumber(1))]
        )
    }

    @Test("a greeting that nobody waits for has no URLs: they come by their call")
    mutating func lateGreetingHasNoURLs() {
        _ = take(.greet(CallerToken(1)))
        let first = numbers(take(.connected))
        let full = CallError(.refused(.storage), "the disk is full")
        _ = take(.answered(first[0], .failure(full)))
        let second = numbers(take(.tick))
        #expect(
            take(.answered(second[0], .success(.greeting(Self.opening))))
                == [.greeted(Self.greeting)]
        )
        #expect(
            take(.called(Self.openURLs, IncomingNumber(1), hasHandler: false))
                == [.openURLs(["news:1"], IncomingNumber(1))]
        )
        #expect(
            take(.called(Self.openURLs, IncomingNumber(2), hasHandler: false))
                == [.reply(IncomingNumber(2))],
            "once"
        )
    }

    @Test("a call that is given up is answered once, and late")
    mutating func lateAnswerIsTold() {
        launch()
        let sent = take(.call(.beginTask(App1.BeginTask()), .now, CallerToken(2)))
        for _ in 0..<2 { #expect(take(.tick) == [.armTicker]) }
        guard case .giveUp(CallerToken(2), let error)? = take(.tick).first else {
            Issue.record("it is still waited for")
            return
        }
        #expect(error.reason == .timedOut)
        let reply = AppReply.task(BegunTask(task: 3))
        #expect(
            take(.answered(numbers(sent)[0], .success(reply)))
                == [.answerLate(CallerToken(2), reply)]
        )
    }

    @Test("who waits when it stops is answered")
    mutating func nobodyWaitsAfterTheStop() {
        launch()
        _ = take(.call(.cancel(App1.Cancel()), .now, CallerToken(2)))
        _ = take(.call(.cancel(App1.Cancel()), .kept, CallerToken(3)))
        let stopped = Result<AppReply, CallError>.failure(.stopped)
        #expect(
            take(.stop) == [.answer(CallerToken(2), stopped), .answer(CallerToken(3), stopped)]
        )
        #expect(
            take(.call(.cancel(App1.Cancel()), .kept, CallerToken(4)))
                == [.answer(CallerToken(4), stopped)]
        )
    }
}
