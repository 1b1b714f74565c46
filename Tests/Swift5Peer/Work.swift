import Offstage

/// What an app's own code asks of a task, to be tested without one.
protocol ExpirableTask: AnyObject {
    var expirationHandler: (() -> Void)? { get set }
    func setTaskCompleted(success: Bool)
}

extension BGTask: ExpirableTask {}

/// An app's model: no actor's, as most are.
final class Refresher {
    static let identifier = "org.offstage.swift5.refresh"
    private let queue = OperationQueue()

    func register() {
        let isNew = BGTaskScheduler.shared.register(
            forTaskWithIdentifier: Self.identifier,
            using: nil
        ) { task in
            guard let task = task as? BGAppRefreshTask else { return }
            self.handle(task)
        }
        say("registered \(isNew)")
    }

    static func schedule() {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
        do {
            try BGTaskScheduler.shared.submit(request)
            say("scheduled")
        } catch {
            say("not scheduled: \(error)")
        }
    }

    private func handle(_ task: BGAppRefreshTask) {
        say("refresh \(UIApplication.shared.applicationState == .background)")
        run(task)
    }

    /// Until it has expired, as the simulator of the daemon makes it.
    private func run(_ task: ExpirableTask) {
        task.expirationHandler = {
            say("expired")
            task.setTaskCompleted(success: false)
        }
        say("handler \(task.expirationHandler != nil)")
    }
}

/// Time to finish something, asked for on another thread.
final class Uploads {
    static let shared = Uploads()
    private let queue = DispatchQueue(label: "uploads")

    func finish() {
        queue.async {
            var identifier = UIBackgroundTaskIdentifier.invalid
            identifier = UIApplication.shared.beginBackgroundTask(withName: "upload") {
                UIApplication.shared.endBackgroundTask(identifier)
                identifier = .invalid
            }
            let remaining = UIApplication.shared.backgroundTimeRemaining
            let delegate = UIApplication.shared.delegate as? AppDelegate
            for scene in UIApplication.shared.connectedScenes {
                let isLeft = scene.activationState == .background
                say("scene \(scene.session.persistentIdentifier) left \(isLeft)")
            }
            say("uploading \(remaining > 0) \(delegate != nil) \(Thread.isMainThread)")
            UIApplication.shared.endBackgroundTask(identifier)
        }
    }
}
