import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// What apps ask about themselves. The shell of the daemon reads the answer from the core after the
/// turn.
extension World {
    /// True at each `whole`th occasion of an app, if apps are talkative. All callers share one
    /// counter for each app, so that a caller does not get each `whole`th of its own. No chance is
    /// drawn: the other seeds stay as they are.
    func isOccasion(_ app: Int, in whole: Int) -> Bool {
        guard isTalkative else { return false }
        plans[app].occasions += 1
        return plans[app].occasions % whole == 0
    }

    /// An app looks at what became of its submission, and at what it uses.
    func askAfterSubmission(_ client: VirtualClient) {
        let index = client.process.app
        var calls: [App1] = []
        if isOccasion(index, in: 3) { calls.append(.pending(App1.Pending())) }
        if isOccasion(index, in: 5) { calls.append(.limits(App1.Limits())) }
        for call in calls where isThere(client) && !client.process.link.isHung {
            feed(.call(call, .now, client.token(for: .nothing)), client)
        }
    }

    /// Answers what was asked in this turn.
    func answerQuestions(_ device: Device) {
        guard !questions.isEmpty else { return }
        let asked = questions
        questions.removeAll()
        for call in asked {
            guard var answer = answer(to: call, device) else { continue }
            if let answerBug { answer = answerBug(answer) }
            watch.told(answer, to: call.process, self)
            reply(.success(answer), to: call)
            // Killed at this very answer, it says nothing more.
            guard daemonIsAlive else { return }
        }
    }

    private func answer(to call: PendingCall, _ device: Device) -> AppReply? {
        let process = call.process
        switch call.call {
        case .pending:
            return .pending(PendingRequests(requests: device.pendingRequests(of: process.appID)))
        case .limits:
            let usage = process.isDead ? nil : process.usage(at: clock.elapsed)
            return .limits(device.limits(of: process.launch, usage, at: now))
        case .watchConditions: return .conditions(device.conditionsForApps)
        case .hello, .finishedLaunching, .expirationHandler, .complete, .setMinimumFetchInterval,
            .mistaken, .submit, .cancel, .beginTask, .endTask, .joinSession, .enqueueTasks,
            .changeTasks, .answerTask, .leaveSession, .setIdleTimer:
            return nil
        }
    }
}
