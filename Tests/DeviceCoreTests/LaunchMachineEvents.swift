@testable import DeviceCore
import Vocabulary

/// Everything that can happen to a launch.
extension LaunchMachineTests {
    static func events(_ kind: Kind) -> [LaunchEvent] {
        let own: [LaunchEvent] = [
            .woke, .delivered(DeliveryID(8), request(kind)), .resumed(request(kind)),
            .grantChanged(by: .minutes(1)), .grantChanged(by: .zero - .minutes(4)),
            .refreshChanged, .conditionsChanged, .left, .reopened(true),
            .reopened(false), .recovered(nil), .opened(urls: []), .opened(urls: ["x:1"]),
            .reopened(true, urls: ["x:2"]),
            .recovered(survivor(alive: true)), .recovered(survivor(alive: false)),
            .recovered(Survivor(launch: LaunchID(3), process: nil, alive: false)),
            .rebooted,
        ]
        let chosen: [[DeliveryID]?] = [nil, [], [delivery]]
        var events = own
        for reason in StopReason.allCases {
            events.append(.ended(reason, detail: ""))
            events += chosen.map { LaunchEvent.stopped(reason, deliveries: $0) }
        }
        events += processEvents.map { LaunchEvent.process($0) }
        events += appEvents.map { LaunchEvent.app($0) }
        return events
    }

    private static func survivor(alive: Bool) -> Survivor {
        Survivor(launch: LaunchID(3), process: process, alive: alive)
    }

    private static let processEvents: [ProcessEvent] = {
        let failures: [StartFailure.Cause] = [.program, .storage, .processes, .groups]
        let exits: [Exit] = [
            .status(0), .status(1), .status(75), .signal(11, outOfMemory: false),
            .signal(9, outOfMemory: true), .unknown,
        ]
        let answers: [ProbeAnswer] = [
            .read(Fingerprint(of: [1]), status: 0), .read(Fingerprint(of: [2]), status: 1),
            .unreadable(reason: "gone"), .notAsked(StartFailure(.processes, reason: "full")),
        ]
        let steps: [ProbeStep] = [.before, .after, .failed]
        let sizes: [Int64] = [1 << 20, 190 << 20, 900 << 20]
        var events: [ProcessEvent] = [
            .started(process), .locks([]), .locks(["/tmp/lock"]), .seen(memory: 1 << 20),
            .machineOutOfMemory,
        ]
        events += failures.map { ProcessEvent.notStarted(StartFailure($0, reason: "no")) }
        events += exits.map { exit in
            ProcessEvent.exited(exit, Usage(cpu: .seconds(1), memory: 1 << 20))
        }
        events += sizes.map { ProcessEvent.measured(Usage(cpu: .seconds(9), memory: $0)) }
        for step in steps { events += answers.map { ProcessEvent.probed(step, $0) } }
        return events
    }()

    private static let appEvents: [AppEvent] = {
        let reply = ReplyToken(1)
        return [
            .connected(reply: reply), .finishedLaunching(registered: ["task"], reply: reply),
            .finishedLaunching(registered: []), .accepted(delivery),
            .declined(delivery, reason: "no"), .expirationHandler(delivery, set: true),
            .completed(delivery, .newData), .completed(delivery, .failed),
            .taskBegan(name: "save", hasHandler: true, reply: reply), .taskEnded(task: 1),
            .extensionGone(process), .enteredBackground, .openedURLs(1),
            .fetchInterval(.minimum, reply: reply),
            .submit(Submission(identifier: "task", kind: .refresh), reply: reply),
            .cancel(identifier: nil, reply: reply), .mistaken(.letGo, subject: ""), .disconnected,
            .session("photos", .join(sendsLaunchEvents: true), reply: reply),
            .acknowledged(TransferID(4)),
            .conditionsWatched(reply: reply), .idleTimer(disabled: true, reply: reply),
            .reconnected(running: [delivery], finished: []),
            .reconnected(
                running: [],
                finished: [FinishedDelivery(delivery: delivery, result: .noData)]
            ),
        ]
    }()
}

// MARK: Names

/// A new case does not compile before it has a name here, and a test misses each name that does not
/// come about.
extension LaunchMachineTests {
    enum EventName: CaseIterable {
        case made, woke, delivered, resumed, stopped, ended, grantChanged, refreshChanged
        case conditionsChanged, opened, left, reopened, recovered, rebooted
        // Of its process.
        case started, notStarted, exited, measured, seen, machineOutOfMemory, probed, locks
        // Of its app.
        case connected, finishedLaunching, accepted, declined, expirationHandler, completed
        case taskBegan, taskEnded, extensionGone, enteredBackground, openedURLs, fetchInterval
        case submit, cancel, session, acknowledged, conditionsWatched, idleTimer, mistaken
        case disconnected, reconnected

        init(_ event: LaunchEvent) {
            self =
                switch event {
                case .made: .made
                case .process(let event): EventName(event)
                case .app(let event): EventName(event)
                case .woke: .woke
                case .delivered: .delivered
                case .resumed: .resumed
                case .stopped: .stopped
                case .ended: .ended
                case .grantChanged: .grantChanged
                case .refreshChanged: .refreshChanged
                case .conditionsChanged: .conditionsChanged
                case .opened: .opened
                case .left: .left
                case .reopened: .reopened
                case .recovered: .recovered
                case .rebooted: .rebooted
                }
        }

        private init(_ event: ProcessEvent) {
            self =
                switch event {
                case .started: .started
                case .notStarted: .notStarted
                case .exited: .exited
                case .measured: .measured
                case .seen: .seen
                case .machineOutOfMemory: .machineOutOfMemory
                case .probed: .probed
                case .locks: .locks
                }
        }

        private init(_ event: AppEvent) {
            self =
                switch event {
                case .connected: .connected
                case .finishedLaunching: .finishedLaunching
                case .accepted: .accepted
                case .declined: .declined
                case .expirationHandler: .expirationHandler
                case .completed: .completed
                case .taskBegan: .taskBegan
                case .taskEnded: .taskEnded
                case .extensionGone: .extensionGone
                case .enteredBackground: .enteredBackground
                case .openedURLs: .openedURLs
                case .fetchInterval: .fetchInterval
                case .submit: .submit
                case .cancel: .cancel
                case .session: .session
                case .acknowledged: .acknowledged
                case .conditionsWatched: .conditionsWatched
                case .idleTimer: .idleTimer
                case .mistaken: .mistaken
                case .disconnected: .disconnected
                case .reconnected: .reconnected
                }
        }
    }

    enum DeadlineName: CaseIterable {
        case kill, answerBefore, answerAfter, answerFailed, sample, locks, grant, interruption
        case watchdog, warn, expire, task, warnFinishUp, finishUp, grace

        init(_ deadline: LaunchDeadline) {
            self =
                switch deadline {
                case .kill: .kill
                case .answer(.before): .answerBefore
                case .answer(.after): .answerAfter
                case .answer(.failed): .answerFailed
                case .sample: .sample
                case .locks: .locks
                case .grant: .grant
                case .interruption: .interruption
                case .watchdog: .watchdog
                case .warn: .warn
                case .expire: .expire
                case .task: .task
                case .warnFinishUp: .warnFinishUp
                case .finishUp: .finishUp
                case .grace: .grace
                }
        }
    }
}
