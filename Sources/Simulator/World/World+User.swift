import DeviceCore
package import Vocabulary

/// The user of the virtual device.
package struct UserState {
    package var isActive = false
    package var openApp: Int?
    /// How often it has opened an app.
    var opened = 0
    package var random: SeededRandom
    var jobs = 0
    /// Local time of getting up and of going to bed.
    package var rises = Interval.hours(7)
    package var sleeps = Interval.hours(23)

    init(random: SeededRandom) {
        self.random = random
        rises = .minutes(self.random.within(330...540))
        sleeps = .minutes(self.random.within(1290...1420))
    }
}

extension World {
    /// The first day begins.
    func begin() {
        for (condition, value) in [
            (Condition.battery, 80), (.power, 0), (.network, 2), (.metered, 0), (.lowData, 0),
            (.locked, 2), (.idle, 1), (.lowPower, 0), (.thermal, 0), (.memory, 0),
        ] { sensors[condition.index] = .value(value) }
        plan(.user(.pickUp), after: .seconds(random.within(30...3_000)))
        plan(.drift, after: .minutes(10))
        planTroubles()
        planTriggerEvents()
        planDownload()
        planUpload()
    }

    func userSteps(_ step: UserStep) {
        switch step {
        case .pickUp: pickUp()
        case .act(let left): act(left)
        case .putDown: putDown()
        case .lock:
            if !user.isActive, value(.locked) == 0 { report(.locked, .value(1)) }
        case .idle:
            guard !user.isActive else { return }
            report(.idle, .value(1))
        case .plugIn: report(.power, .value(1))
        case .unplug: report(.power, .value(0))
        case .again(let submission):
            guard daemonIsAlive else {
                plan(.user(.again(submission)), after: .seconds(5))
                return
            }
            inbox.append(token { .user(.submit(submission), reply: $0) })
        }
    }

    private func pickUp() {
        user.isActive = true
        userCame()
        planDoze()
        report(.idle, .value(0))
        report(.locked, .value(0))
        if user.random.chance(1, in: 8) { report(.power, .value(0)) }
        plan(.user(.act(left: 1 + user.random.below(5))), after: .seconds(2))
    }

    private func act(_ left: Int) {
        guard user.isActive else { return }
        if let open = user.openApp {
            user.openApp = nil
            if isOccasion(open, in: 13) { toggleRefresh() }
            call(.leave(plans[open].id))
        }
        guard left > 0 else {
            plan(.user(.putDown), after: .seconds(5))
            return
        }
        if user.random.chance(9, in: 10) { openOne() }
        if user.random.chance(1, in: 3) { control() }
        plan(
            .user(.act(left: left - 1)),
            after: .milliseconds(user.random.within(1_000...240_000))
        )
    }

    private func openOne() {
        let likings = plans.indices.dropLast().map {
            plans[$0].manifest.exec == nil || !plans[$0].isInstalled || plans[$0].isLeftOut
                ? 0 : plans[$0].likes
        }
        let all = likings.reduce(0, +)
        guard all > 0 else { return }
        var draw = user.random.below(all)
        for (index, liking) in likings.enumerated() {
            draw -= liking
            guard draw < 0 else { continue }
            user.openApp = index
            user.opened += 1
            // No two alike.
            let urls = user.opened.isMultiple(of: 3) ? ["app:\(user.opened)"] : []
            call(.open(plans[index].id, attach: nil, urls: urls))
            return
        }
    }

    private func putDown() {
        user.isActive = false
        plan(.user(.lock), after: .seconds(20))
        plan(.user(.idle), after: .seconds(60))
        planDoze()
        let local = now.local.timeOfDay
        var pause = Interval.minutes(user.random.within(3...150))
        if local + pause > user.sleeps || local < user.rises {
            let untilRise = user.rises - local
            pause = untilRise > .zero ? untilRise : untilRise + .days(1)
            pause += .minutes(user.random.within(0...40))
            if user.random.chance(9, in: 10) {
                plan(.user(.plugIn), after: .minutes(5))
                plan(.user(.unplug), after: pause - .minutes(1))
            }
        }
        plan(.user(.pickUp), after: pause)
    }

    /// The open app is told.
    private func toggleRefresh() {
        settings.backgroundRefresh.toggle()
        if daemonIsAlive { inbox.append(.settings(settings)) }
    }

    func call(_ request: UserRequest) {
        guard daemonIsAlive else { return }
        inbox.append(token { .user(request, reply: $0) })
    }

    /// What a user, or a program of the user, asks for beside opening and leaving.
    private func control() {
        let index = user.random.below(plans.count - 1)
        let app = plans[index].id
        switch user.random.below(12) {
        case 0...3: submitJob()
        case 4: if strikes(.closed, in: 2) { call(.close(app)) }
        case 5: if strikes(.userInitiated, in: 2) { call(.run(app, identifier: nil)) }
        case 6:
            guard strikes(.paused, in: 4) else { return }
            call(.pause(user.random.chance(3, in: 4) ? .minutes(user.random.within(1...300)) : nil))
        case 7: if strikes(.cancelled, in: 2) { call(.cancel(app, identifier: nil)) }
        case 8, 9:
            guard strikes(.simulated, in: 2) else { return }
            let kinds = Simulation.allCases
            call(.simulate(kinds[user.random.below(kinds.count)], app, identifier: nil))
        case 10: if strikes(.fetched, in: 2) { inbox.append(.used(app)) }
        case _:
            call(.continue)
            // Of all apps, or of one, whether it fails or not.
            if isOccasion(index, in: 2) { call(.dismiss(isOccasion(index, in: 4) ? nil : app)) }
        }
    }

    private func submitJob() {
        user.jobs += 1
        let isProcessing = user.random.chance(1, in: 3)
        let name = "job\(user.random.below(6))"
        let submission = Submission(
            identifier: name,
            kind: isProcessing ? .processing : .refresh,
            after: user.random.chance(1, in: 2) ? .minutes(user.random.within(1...300)) : nil,
            every: user.random.chance(1, in: 8) ? .hours(6) : nil,
            needs: Needs(
                power: user.random.chance(1, in: 4) && isProcessing,
                network: user.random.chance(1, in: 4),
                unmetered: user.random.chance(1, in: 6)
            ),
            token: "user-\(user.jobs)",
            command: [name, isProcessing ? "--process" : "--refresh"]
        )
        guard daemonIsAlive else { return }
        inbox.append(token { .user(.submit(submission), reply: $0) })
    }
}
