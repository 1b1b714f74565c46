import AppProtocol
import ClientCore
import DeviceCore
import Vocabulary

/// What apps do with what they are given: handlers, background tasks, answers to what they asked.
extension World {
    // MARK: Answers

    /// `isLast`: nothing comes after it.
    func answered(
        _ token: CallerToken,
        _ answer: Result<AppReply, CallError>,
        _ client: VirtualClient,
        isLast: Bool = true
    ) {
        guard let index = client.asked.firstIndex(where: { $0.token == token }) else { return }
        let what = client.asked[index].what
        if isLast { client.asked.remove(at: index) }
        let process = client.process
        switch what {
        case .nothing: break
        case .greeting:
            process.link.isGreeting = false
            guard process.link.waitsForGreeting else { break }
            process.add(.finishLaunching, after: .milliseconds(1), at: clock.elapsed)
        case .submission(let submission):
            guard case .failure(let error) = answer,
                error.reason == .unreachable || error.reason == .timedOut
            else { return askAfterSubmission(client) }
            swarm.count(.retriedToken)
            process.add(.submit(submission), after: .seconds(2), at: clock.elapsed)
        case .task(let task): began(task, begunTask(answer), client)
        case .taskAgain(let task, let before):
            let answered = client.tasks.begunAgain(task, before: before, begunTask(answer))
            act(on: answered, for: task, client)
        }
    }

    /// It was given up: what was begun all the same is ended.
    func answeredLate(_ token: CallerToken, _ reply: AppReply?, _ client: VirtualClient) {
        client.asked.removeAll { $0.token == token }
        guard case .task(let begun) = reply,
            case .tellEnd(let number) = HeldTasks.answeredLate(begun)
        else { return }
        tellEnd(number, client)
    }

    private func begunTask(
        _ answer: Result<AppReply, CallError>
    ) -> Result<BegunTask, CallError> {
        answer.map { if case .task(let begun) = $0 { begun } else { BegunTask(task: 0) } }
    }

    // MARK: Requests

    func submit(_ submission: Submission, _ process: VirtualProcess) {
        guard let client = process.clients.first, !process.link.isHung else { return }
        let call = App1.Submit {
            ($0.identifier, $0.kind) = (submission.identifier ?? "", submission.kind)
            $0.earliest = submission.after.map { now.wall + $0 }
            ($0.needs, $0.token) = (submission.needs, submission.token)
        }
        feed(.call(.submit(call), .now, client.token(for: .submission(submission))), client)
    }

    // MARK: Handlers

    /// The handler runs.
    func begin(_ id: DeliveryID, _ identifier: String, _ process: VirtualProcess) {
        let index = process.app
        process.link.running.append(id)
        let now = clock.elapsed
        if plans[index].random.chance(2, in: 3) {
            process.add(.setHandler(id), after: .milliseconds(1), at: now)
        }
        if strikes(.appCrash, in: 100, app: index) { crash(process, within: 20_000) }
        if strikes(.connectsTwice, in: 60, app: index) {
            process.add(
                .connectAnew,
                after: .milliseconds(plans[index].random.within(1...20_000)),
                at: now
            )
        }
        useSession(process)
        beginTasks(process, chance: 4)
        for identifier in plans[index].identifiers where plans[index].random.chance(4, in: 5) {
            process.add(
                .submit(submission(identifier, .refresh, index)),
                after: .milliseconds(50),
                at: now
            )
        }
        if strikes(.neverCompletes, in: 60, app: index) {
            process.link.stubborn.append(id)
            return
        }
        let mean = plans[index].work.nanoseconds
        var time = Interval(nanoseconds: plans[index].random.within(mean / 4...mean * 2))
        if strikes(.outlivesGrant, in: 60, app: index) { time = .minutes(40) }
        let isNew = plans[index].random.below(10) < plans[index].newDataOfTen
        let result: TaskResult =
            plans[index].usesFetch ? (isNew ? .newData : .noData) : .succeeded
        process.add(.complete(id, result), after: time, at: now)
        if strikes(.completesTwice, in: 60, app: index) || isOccasion(index, in: 7) {
            process.add(.completeAgain(identifier), after: time + .milliseconds(3), at: now)
            process.add(.complete(id, .failed), after: time + .milliseconds(3), at: now)
        }
    }

    func setHandler(_ id: DeliveryID, _ process: VirtualProcess) {
        guard let client = process.clients.first, process.link.running.contains(id) else { return }
        let call = App1.ExpirationHandler { ($0.delivery, $0.isSet) = (id, true) }
        feed(.call(.expirationHandler(call), .kept, client.token(for: .nothing)), client)
    }

    func complete(_ id: DeliveryID, _ result: TaskResult, _ process: VirtualProcess) {
        guard let client = process.clients.first else { return }
        process.link.running.removeAll { $0 == id }
        feed(.complete(id, result), client)
    }

    func expire(_ id: DeliveryID, _ process: VirtualProcess) {
        guard process.link.running.contains(id), !process.link.stubborn.contains(id) else { return }
        process.forget {
            if case .complete(id, _) = $0 { true } else { false }
        }
        process.add(
            .complete(id, plans[process.app].usesFetch ? .failed : .unsuccessful),
            after: .milliseconds(plans[process.app].random.within(1...1_000)),
            at: clock.elapsed
        )
    }

    func enterBackground(_ number: IncomingNumber, _ client: VirtualClient) {
        let process = client.process
        process.link.isForeground = false
        beginTasks(process, chance: 4)
        process.add(
            .done(number, client),
            after: .milliseconds(plans[process.app].random.within(10...7_000)),
            at: clock.elapsed
        )
    }

    // MARK: Background tasks

    /// Asks for time, for itself or as a helper program, which comes and goes with its task.
    func beginTask(_ handler: Bool, _ byHelper: Bool, _ process: VirtualProcess) {
        guard let main = process.clients.first, !process.link.isHung else { return }
        let client = byHelper ? startHelper(process) : main
        process.begunTasks += 1
        let call = App1.BeginTask {
            ($0.name, $0.expires, $0.isActivity) = ("task", handler, byHelper)
            $0.token = "\(process.launch)-\(process.begunTasks)"
        }
        let task = client.tasks.begin(call)
        feed(
            .call(.beginTask(call), byHelper ? .now : .kept, client.token(for: .task(task))),
            client
        )
        // It is given back before anybody has answered.
        if isOccasion(process.app, in: 6) {
            process.add(.endTask(task, client), after: .milliseconds(1), at: clock.elapsed)
        }
    }

    /// A helper program, in the same cgroup.
    private func startHelper(_ process: VirtualProcess) -> VirtualClient {
        nextPid += 1
        let identity = ProcessID(
            pid: nextPid,
            startTime: UInt64(clock.elapsed.nanoseconds / 10_000_000)
        )
        let client = VirtualClient(process, holder: identity)
        process.clients.append(client)
        return client
    }

    /// A helper program ends, whatever it holds.
    func leave(_ client: VirtualClient) {
        guard let holder = client.holder, isThere(client) else { return }
        client.isGone = true
        // A daemon that has started since, and has not met it, sees the end of its process.
        if client.bound == nil, daemonIsAlive, client.process.talk.holders.contains(holder) {
            send(.app(client.process.launch, .extensionGone(holder)))
        }
        hangUp(client)
        client.process.clients.removeAll { $0 === client }
    }

    private func began(
        _ task: Int,
        _ answer: Result<BegunTask, CallError>,
        _ client: VirtualClient
    ) {
        let process = client.process
        let answered = client.tasks.began(task, answer)
        act(on: answered, for: task, client)
        guard answered == .hasTime, !strikes(.taskNeverEnded, in: 40, app: process.app) else {
            return
        }
        let time = Interval.milliseconds(plans[process.app].random.within(100...60_000))
        process.add(.endTask(task, client), after: time, at: clock.elapsed)
        if client.holder != nil { useTime(for: time, client) }
    }

    private func act(on answered: HeldTasks.Answered, for task: Int, _ client: VirtualClient) {
        switch answered {
        case .hasTime, .nothing: break
        case .tellEnd(let number): tellEnd(number, client)
        case .noTime:
            // As of an expiry.
            _ = client.tasks.end(task)
            leave(client)
        }
    }

    /// A helper program asks for work of its app's, and may be gone before it has said that it is
    /// done.
    private func useTime(for time: Interval, _ client: VirtualClient) {
        let process = client.process
        let index = process.app
        if let identifier = plans[index].processingIdentifiers.first,
            plans[index].random.chance(1, in: 2)
        {
            let submission = submission(identifier, .processing, index)
            process.add(.submit(submission), after: time / 2, at: clock.elapsed)
        }
        let isShort = plans[index].random.chance(1, in: 2)
        process.add(
            .helperEnds(client),
            after: isShort ? time / 4 * 3 : time + .seconds(1),
            at: clock.elapsed
        )
    }

    func endTask(_ task: Int, _ client: VirtualClient) {
        if case .tell(let number) = client.tasks.end(task) { tellEnd(number, client) }
    }

    private func tellEnd(_ number: Int64, _ client: VirtualClient) {
        let call = App1.EndTask { $0.task = number }
        feed(.call(.endTask(call), .kept, client.token(for: .nothing)), client)
    }

    func expireTask(_ number: Int64, _ client: VirtualClient) {
        let process = client.process
        guard let task = client.tasks.expire(number, deadline: nil) else { return }
        let isStubborn = strikes(.taskNeverEnded, in: 20, app: process.app)
        process.forget {
            if case .endTask(task, let other) = $0 { isStubborn && other === client } else { false }
        }
        if !isStubborn {
            process.add(.endTask(task, client), after: .milliseconds(200), at: clock.elapsed)
        }
    }

    /// What a helper program holds goes with its connection: it is begun again on the next.
    func beginActivitiesAgain(_ client: VirtualClient) {
        for (task, number, call) in client.tasks.activities {
            let token = client.token(for: .taskAgain(task, before: number))
            feed(.call(.beginTask(call), .now, token), client)
        }
    }

    // MARK: Connections

    /// Its connection is lost, and for a while it gets no other.
    func disconnect(_ process: VirtualProcess) {
        guard let client = process.clients.first, let connection = client.connection else { return }
        client.isCutOff = true
        cut(client, connection)
    }

    func reconnect(_ process: VirtualProcess) {
        guard let client = process.clients.first, !process.link.stoppedReading else { return }
        client.isCutOff = false
        if client.connection == nil { feed(.look, client) }
    }

    /// It has lost its connection, and the daemon does not know yet when it hears of the next.
    func connectAnew(_ process: VirtualProcess) {
        guard let client = process.clients.first, let connection = client.connection,
            !process.link.stoppedReading
        else { return }
        lose(client)
        client.lastArrival = max(client.lastArrival, clock.elapsed) + .milliseconds(5)
        agenda.add(.said(Said(client, connection, .hangUp)), at: client.lastArrival)
    }
}
