import DeviceCore
import Testing
import Vocabulary

extension GateTests {
    /// What the daemon itself, or its machine, cannot do.
    static let ofTheDaemon: [Scenario] = [
        Scenario(
            gate: "settling",
            close: {
                $0.configure { $0.settleTime = .seconds(10) }
                $0.set(.power, 0)
                $0.set(.power, 1)
                var needs = Needs()
                needs.power = true
                $0.ask(
                    .submit(Submission(kind: .processing, needs: needs, command: ["app"]))
                )
            },
            open: { $0.advance(.seconds(10)) },
            sentence: "external power has just come back and may go again",
            hasNext: true
        ),
        Scenario(
            gate: "processes",
            close: {
                $0.install(.refreshing("app"))
                let launch = try #require($0.spawn(of: "app"))
                $0.send(
                    .process(launch, .notStarted(StartFailure(.processes, reason: "clone3")))
                )
            },
            open: { $0.advance(.seconds(1)) },
            sentence: "cannot start another process",
            hasNext: true
        ),
        Scenario(
            gate: "stopping",
            close: {
                $0.send(.stopping)
                $0.install(.refreshing("app"))
            },
            open: {
                try $0.restart(manifests: [.refreshing("app")])
                $0.advance(.seconds(5))
            },
            sentence: "the daemon is stopping"
        ),
    ]
}

extension GateTests {
    /// What holds transfers only.
    static let ofTransfers: [Scenario] = [
        Scenario(
            gate: "retry",
            close: {
                $0.ask(.transfer(.enqueue([order("a")], token: nil)))
                let id = try #require($0.begun.keys.first)
                let interruption = ExchangeEnd.Interruption(.connection, reason: "no route")
                $0.report(id, .ended(.interrupted(interruption), durable: 0))
            },
            open: { $0.advance(.seconds(2)) },
            sentence: "the connection failed (no route)",
            hasNext: true
        ),
        Scenario(
            gate: "answer",
            close: {
                let launch: LaunchID
                ($0, launch) = try Bench.withApp()
                $0.askSession(launch, .join(sendsLaunchEvents: true, answers: true))
                let task = SessionTask(session: "photos", number: 1)
                $0.askSession(launch, .enqueue([.init(task: task, order: order("a"))], token: nil))
                let id = try #require($0.begun.keys.first)
                let refusal = ExchangeAnswer(status: 401, url: "http://example.org/a")
                $0.report(id, .ended(.challenged(refusal), durable: 0))
            },
            open: {
                let launch = try #require($0.app("app")?.launches.first?.id)
                let id = try #require($0.sessionTasks.first)
                let number = try #require($0.stored(id)?.question?.number)
                $0.askSession(launch, .answer(number, .proceed(isIgnored: false)))
            },
            sentence: "its app has to answer a challenge of example.org (status 401)"
        ),
        Scenario(
            gate: "transfer-slots",
            close: {
                $0.configure { $0.transferSlots = 1 }
                $0.ask(.transfer(.enqueue([order("a"), order("b")], token: nil)))
            },
            open: {
                let id = try #require($0.begun.keys.first)
                $0.report(id, .ended(.complete(size: 1), durable: 1))
            },
            sentence: "its turn comes after them"
        ),
    ]

    private static func order(_ name: String) -> TransferOrder {
        TransferOrder(url: "http://example.org/\(name)", directory: "/home/user")
    }
}
