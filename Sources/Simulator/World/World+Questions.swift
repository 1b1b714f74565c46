import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// What apps ask about themselves. The shell of the daemon reads the answer from the core after the
/// turn.
extension World {
    /// True for one of so many occasions of an app, if apps are talkative. No chance is drawn, so
    /// that the other seeds stay as they are.
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
            let process = call.process
            switch call.call {
            case .pending:
                var requests = device.pendingRequests(of: process.appID)
                if let answerBug { requests = answerBug(requests) }
                watch.told(requests, of: process.appID)
                reply(.success(.pending(PendingRequests(requests: requests))), to: call)
            case .limits:
                let usage = process.isDead ? nil : process.usage(at: clock.elapsed)
                let limits = device.limits(of: process.launch, usage, at: now)
                watch.told(limits, of: process, usage)
                reply(.success(.limits(limits)), to: call)
            case .hello, .finishedLaunching, .expirationHandler, .complete,
                .setMinimumFetchInterval, .mistaken, .submit, .cancel, .beginTask, .endTask:
                break
            }
            // Killed at this very answer, it says nothing more.
            guard daemonIsAlive else { return }
        }
    }
}
