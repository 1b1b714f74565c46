import DeviceCore
import Vocabulary

/// What an app's library does when its connection, or the daemon, is lost.
extension World {
    func reconnect(_ process: VirtualProcess) {
        guard !process.link.isConnected, !process.link.stoppedReading else { return }
        guard daemonIsAlive else {
            process.add(.reconnect, after: .seconds(1), at: clock.elapsed)
            return
        }
        process.link.isConnected = true
        swarm.count(.disconnect)
        if !process.link.hasFinishedLaunching { return }
        send(
            .app(
                process.launch,
                .reconnected(running: process.link.running, finished: process.link.finished)
            )
        )
        process.link.finished.removeAll()
        for submission in process.link.unanswered {
            swarm.count(.retriedToken)
            send(token { .app(process.launch, .submit(submission, reply: $0)) })
        }
        process.link.unanswered.removeAll()
        for event in process.link.unheard { send(.app(process.launch, event)) }
        process.link.unheard.removeAll()
    }

    /// The daemon ends the first connection when it hears hello on the second.
    func connectAnew(_ process: VirtualProcess) {
        guard process.link.isConnected, process.link.hasFinishedLaunching,
            !process.link.stoppedReading
        else { return }
        process.link.isConnected = false
        send(.app(process.launch, .disconnected))
        process.add(.greetAnew, after: .milliseconds(2), at: clock.elapsed)
    }

    func greetAnew(_ process: VirtualProcess) {
        guard daemonIsAlive, process.link.finished.isEmpty, process.link.unanswered.isEmpty,
            process.link.unheard.isEmpty, plans[process.app].random.chance(1, in: 2)
        else { return reconnect(process) }
        guard !process.link.isConnected else { return }
        process.link.isConnected = true
        send(token { .app(process.launch, .connected(reply: $0)) })
        send(
            .app(process.launch, .finishedLaunching(registered: handlers(process.app)))
        )
    }

    /// What an app's library does about a call that got no answer.
    func lost(_ said: AppEvent, _ process: VirtualProcess) {
        switch said {
        case .completed(let id, let result, _, _):
            process.link.finished.append(FinishedDelivery(delivery: id, result: result))
        case .submit(let submission, let token):
            calls[token.number] = nil
            process.link.unanswered.append(submission)
        case .taskEnded, .extensionGone, .expirationHandler, .enteredBackground, .finishedLaunching:
            process.link.unheard.append(said)
        case .taskBegan(_, _, _, _, let token):
            calls[token.number] = nil
            process.link.mayHaveUnknownTask = true
        case .connected(let token), .fetchInterval(_, let token), .cancel(_, let token):
            calls[token.number] = nil
        case .reconnected(_, let finished, _, _):
            process.link.finished.insert(contentsOf: finished, at: 0)
        case .accepted, .declined, .mistaken, .disconnected: break
        }
    }
}
