import AppProtocol
import ClientCore
import Vocabulary

/// Apps that fetch in a background session: every other linked one. They draw from the numbers of
/// the network, so that the rest of a seed stays as it is.
extension World {
    private static let session = "photos"

    private func usesSession(_ client: VirtualClient) -> Bool {
        client.holder == nil && plans[client.process.app].isLinked && client.process.app % 2 == 0
    }

    /// The daemon knows the process: what it has missed is welcome.
    func joinSession(_ client: VirtualClient) {
        guard usesSession(client), !isQuiet else { return }
        let call = App1.JoinSession {
            $0.session = Self.session
            // Some want no launches, at some times.
            $0.isQuiet = network.random.chance(1, in: 8)
        }
        feed(.call(.joinSession(call), .now, client.token(for: .nothing)), client)
    }

    /// What has come of a task is gone on with, now and then a second time.
    func goOn(with end: SessionTaskEnd, _ client: VirtualClient) {
        guard let resume = end.resume, usesSession(client), network.random.chance(1, in: 2) else {
            return
        }
        for _ in 0...network.random.below(2) {
            var task = App1.TransferTask()
            network.lastTask += 1
            (task.task, task.url, task.resume) = (network.lastTask, end.task.url, resume)
            let enqueue = App1.EnqueueTasks {
                ($0.session, $0.tasks) = (Self.session, [task])
                $0.token = "tasks-\(network.lastTask)"
            }
            guard isThere(client) else { return }
            feed(.call(.enqueueTasks(enqueue), .kept, client.token(for: .nothing)), client)
        }
    }

    /// What an app asks for when it is up, or was given some time.
    func useSession(_ process: VirtualProcess) {
        guard let client = process.clients.first, usesSession(client), !process.link.isHung,
            network.random.chance(1, in: 4)
        else { return }
        var tasks: [App1.TransferTask] = []
        for _ in 0...network.random.below(5) {
            var task = App1.TransferTask()
            network.lastTask += 1
            task.task = network.lastTask
            task.url = network.objects[network.random.below(network.objects.count)].url
            task.discretionary = network.random.chance(1, in: 4)
            if network.random.chance(1, in: 6) {
                task.earliest = now.wall + .minutes(network.random.within(1...900))
            }
            tasks.append(task)
        }
        let enqueue = App1.EnqueueTasks {
            ($0.session, $0.tasks) = (Self.session, tasks)
            $0.token = "tasks-\(network.lastTask)"
        }
        feed(.call(.enqueueTasks(enqueue), .kept, client.token(for: .nothing)), client)
        guard network.random.chance(1, in: 4), isThere(client) else { return }
        let actions: [App1.TaskAction] = [.suspend, .resume, .cancel, .keep, .keep]
        let change = App1.ChangeTasks {
            ($0.session, $0.tasks) = (Self.session, [network.lastTask, network.lastTask - 1])
            $0.action = actions[network.random.below(actions.count)]
        }
        feed(.call(.changeTasks(change), .kept, client.token(for: .nothing)), client)
        guard network.random.chance(1, in: 4), isThere(client) else { return }
        let leave = App1.LeaveSession { $0.session = Self.session }
        feed(.call(.leaveSession(leave), .now, client.token(for: .nothing)), client)
        if isThere(client) { joinSession(client) }
    }

    /// Its delegate takes the file, which takes a moment.
    func taskEnded(_ number: IncomingNumber, _ client: VirtualClient) {
        client.process.add(
            .done(number, client),
            after: .milliseconds(network.random.within(1...400)),
            at: clock.elapsed
        )
    }
}
