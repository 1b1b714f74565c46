import DeviceCore
import Testing
import Vocabulary

/// What a linked app does, step by step.
extension Bench {
    /// What `app` of `withApp` may submit.
    static let identifiers = ["app.refresh", "app.other", "app.tidy.*"]

    /// A device with one linked app, `app`, that is open.
    static func withApp() throws -> (Bench, LaunchID) {
        var bench = Bench()
        bench.install(.linked("app", identifiers: identifiers))
        let launch = try bench.openApp("app", registered: identifiers)
        return (bench, launch)
    }

    /// The user opens it, and it comes up; returns its launch.
    mutating func openApp(
        _ name: String,
        registered: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> LaunchID {
        ask(.open(AppID(name), attach: nil))
        let launch = try #require(spawn(of: name), sourceLocation: sourceLocation)
        started(launch)
        say(launch, .finishedLaunching(registered: registered))
        return launch
    }

    /// The user opens and leaves it; time goes by until it is suspended.
    mutating func suspendApp(
        _ name: String,
        registered: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> LaunchID {
        let launch = try openApp(name, registered: registered, sourceLocation: sourceLocation)
        ask(.leave(AppID(name)))
        say(launch, .enteredBackground)
        advance(.seconds(5))
        try #require(contains(.freeze(launch)), sourceLocation: sourceLocation)
        return launch
    }

    /// Submits from the app itself; returns the answer.
    @discardableResult
    mutating func submit(
        _ launch: LaunchID,
        _ identifier: String,
        _ kind: TaskKind = .refresh,
        _ change: (inout Submission) -> Void = { _ in }
    ) -> Reply? {
        var submission = Submission(identifier: identifier, kind: kind)
        change(&submission)
        say(launch, .submit(submission, reply: nextReply()))
        return reply
    }

    /// What was offered to the launch, in order.
    func offers(_ launch: LaunchID) -> [DeliveryID] {
        told(launch).compactMap { if case .offer(let id, _) = $0 { id } else { nil } }
    }

    /// The delivery that the app runs after accepting the one offer that it got.
    mutating func accept(
        _ launch: LaunchID,
        handler: Bool = true,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> DeliveryID {
        let delivery = try #require(offers(launch).first, sourceLocation: sourceLocation)
        say(launch, .accepted(delivery))
        #expect(told(launch).contains(.go(delivery)), sourceLocation: sourceLocation)
        if handler { say(launch, .expirationHandler(delivery, set: true)) }
        return delivery
    }

    /// `beginBackgroundTask`; 0 is `.invalid`.
    mutating func beginTask(
        _ launch: LaunchID,
        hasHandler: Bool = true,
        by holder: ProcessID? = nil
    ) -> Int64 {
        say(
            launch,
            .taskBegan(
                name: "task",
                hasHandler: hasHandler,
                by: holder,
                reply: nextReply()
            )
        )
        guard case .begun(let task) = reply else { return -1 }
        return task.task
    }
}
