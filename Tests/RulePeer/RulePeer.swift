import Offstage

/// An app that breaks each rule about handlers once, and says what it was answered.
@main
final class RulePeer: UIResponder, UIApplicationDelegate {
    private let queue = DispatchQueue(label: "rules")

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        say("listed \(Self.register("news", queue))")
        say("without a queue \(Self.register("job.1", nil))")
        say("twice \(Self.register("news", nil))")
        say("not listed \(Self.register("other", nil))")
        Self.submit("other")
        // When launching has ended.
        DispatchQueue.main.async { say("late \(Self.register("job.2", nil))") }
        return true
    }

    nonisolated private static func register(_ identifier: String, _ queue: DispatchQueue?) -> Bool
    {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: queue) { task in
            if let queue {
                dispatchPrecondition(condition: .onQueue(queue))
            } else {
                dispatchPrecondition(condition: .notOnQueue(.main))
            }
            say("\(task.identifier) where it should")
            task.setTaskCompleted(success: true)
            task.setTaskCompleted(success: true)
        }
    }

    nonisolated private static func submit(_ identifier: String) {
        do {
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: identifier))
            say("submitted")
        } catch let error as BGTaskScheduler.Error {
            let reason = (error as NSError).localizedFailureReason ?? ""
            say("error \(error.code.rawValue): \(reason)")
        } catch {
            say("\(error)")
        }
    }
}

private func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
