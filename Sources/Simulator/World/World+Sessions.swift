import AppProtocol
import ClientCore
import DeviceCore
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
            ($0.answers, $0.launchesForDelays) = (true, client.process.app % 4 == 0)
        }
        feed(.call(.joinSession(call), .now, client.token(for: .nothing)), client)
    }

    /// What has come of a task is gone on with, now and then a second time, and perhaps later.
    func goOn(with end: SessionTaskEnd, _ client: VirtualClient) {
        guard let resume = end.resume, usesSession(client) else { return }
        network.resumeTokens.append(resume)
        guard network.random.chance(1, in: 2) else { return }
        for _ in 0...network.random.below(2) {
            guard isThere(client) else { return }
            goOn(with: resume, end.task.url, client)
        }
    }

    private func goOn(with token: String, _ url: String, _ client: VirtualClient) {
        var task = App1.TransferTask()
        network.lastTask += 1
        (task.task, task.url, task.resume) = (network.lastTask, url, token)
        let enqueue = App1.EnqueueTasks {
            ($0.session, $0.tasks) = (Self.session, [task])
            $0.token = "tasks-\(network.lastTask)"
        }
        feed(.call(.enqueueTasks(enqueue), .kept, client.token(for: .nothing)), client)
    }

    /// With data of its own that is long used, or with that of another app.
    private func goOnWithSome(_ client: VirtualClient) {
        guard !network.resumeTokens.isEmpty, network.random.chance(1, in: 3) else { return }
        let index = network.random.below(network.resumeTokens.count)
        let object = network.objects[network.random.below(network.objects.count)]
        goOn(with: network.resumeTokens[index], object.url, client)
    }

    /// The app sees bytes come, and may want the rest later.
    func progressed(_ progress: TaskProgress, _ client: VirtualClient) {
        guard usesSession(client), network.random.chance(1, in: 12) else { return }
        let change = App1.ChangeTasks {
            ($0.session, $0.tasks, $0.action) = (Self.session, [progress.task], .keep)
        }
        feed(.call(.changeTasks(change), .kept, client.token(for: .nothing)), client)
    }

    /// What an app asks for when it is up, or was given some time.
    func useSession(_ process: VirtualProcess) {
        guard let client = process.clients.first, usesSession(client), !process.link.isHung,
            network.random.chance(1, in: 4)
        else { return }
        goOnWithSome(client)
        guard isThere(client) else { return }
        var tasks: [App1.TransferTask] = []
        for _ in 0...network.random.below(5) {
            var task = App1.TransferTask()
            network.lastTask += 1
            task.task = network.lastTask
            task.url = network.objects[network.random.below(network.objects.count)].url
            task.discretionary = network.random.chance(1, in: 4)
            if network.random.chance(1, in: 4) {
                task.priority = network.random.within(-500...500)
            }
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
        guard network.random.chance(1, in: isTalkative ? 2 : 4), isThere(client) else { return }
        let actions: [App1.TaskAction] = [.suspend, .resume, .cancel, .keep, .keep]
        let change = App1.ChangeTasks {
            ($0.session, $0.tasks) = (Self.session, [network.lastTask, network.lastTask - 1])
            $0.action = actions[network.random.below(actions.count)]
        }
        feed(.call(.changeTasks(change), .kept, client.token(for: .nothing)), client)
        // Apps rarely leave a session; a world that tests the calls needs some of each.
        guard isTalkative || network.random.chance(1, in: 4), isThere(client) else { return }
        let leave = App1.LeaveSession { $0.session = Self.session }
        feed(.call(.leaveSession(leave), .now, client.token(for: .nothing)), client)
        if isThere(client) { joinSession(client) }
    }

    /// Some apps answer at once, some after a while, some never; and some die.
    func asked(_ question: TaskQuestion, _ client: VirtualClient) {
        let process = client.process
        if swarm.strikes(.appCrash, in: 40, &network.random) {
            return die(process, .signal(11, outOfMemory: false))
        }
        guard !network.random.chance(1, in: 10) else { return }
        let isLate = network.random.chance(1, in: 4)
        let wait = network.random.within(isLate ? 60_000...7_200_000 : 1...5_000)
        process.add(.answer(question, client), after: .milliseconds(wait), at: clock.elapsed)
    }

    /// What an app says: each answer is another one.
    func answer(_ question: TaskQuestion, _ client: VirtualClient) {
        guard isThere(client), !client.process.link.isHung else { return }
        let draw = network.random.below(20)
        let call = App1.AnswerTask {
            ($0.session, $0.question) = (Self.session, question.question)
            switch draw {
            case 0: $0.answer = .cancel
            case 1...4: $0.answer = .proceed
            case 5...9:
                $0.answer = .login
                ($0.user, $0.password) = ("user", "\(question.question)")
                $0.forSession = draw == 9
            case _:
                ($0.answer, $0.url) = (.request, question.task.currentURL ?? question.task.url)
                $0.headers = ["Token: \(question.question)"]
            }
        }
        feed(.call(.answerTask(call), .kept, client.token(for: .nothing)), client)
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
