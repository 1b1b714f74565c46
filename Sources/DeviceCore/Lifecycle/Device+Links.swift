package import Vocabulary

/// The connection of an app: it comes up, is lost, comes again; and what is told of settings.
extension Device {
    /// Answers whoever waits for it, after the commit.
    func answer(_ reply: ReplyToken?, _ refusal: Refusal? = nil, _ transition: inout Transition) {
        guard let reply else { return }
        transition.reply(reply, refusal.map { .refused($0) } ?? .done)
    }

    /// What an app learns of itself when it connects.
    mutating func greeting(_ index: Int, _ launchIndex: Int) -> Greeting {
        let launch = apps[index].launches[launchIndex]
        let status = refreshStatus(of: apps[index].id)
        apps[index].launches[launchIndex].toldRefresh = status
        return Greeting(
            app: apps[index].id,
            launch: launch.id,
            state: launch.presence == .foreground ? "foreground" : "background",
            backgroundRefresh: status.rawValue
        )
    }

    mutating func finishedLaunching(
        _ registered: [String],
        _ index: Int,
        _ launchIndex: Int,
        _ reply: ReplyToken?,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard !launch.isConnected else {
            appendHistory(.note(AppMistake.finishedTwice.summary), app: index, &transition)
            let refusal = Refusal(
                .invalid,
                reason: "launching is over, and with it the time to register handlers",
                value: registered.joined(separator: ", "),
                fix: "register them before FinishedLaunching"
            )
            answer(reply, refusal, &transition)
            return
        }
        answer(reply, nil, &transition)
        apps[index].launches[launchIndex].launchingUntil = nil
        apps[index].launches[launchIndex].isConnected = true
        apps[index].launches[launchIndex].registered = registered
        save(app: index, launch: launch.id)
        // By this an app tells a launch by its user from one in the background.
        if launch.presence == .foreground { transition.emit(.tell(launch.id, .didBecomeActive)) }
        // Its user left while it was launching.
        if launch.presence == .background, let finishUp = launch.finishUp {
            let end = transition.now.awake + settings.enteringBackground
            apps[index].launches[launchIndex].graceEnd = end
            apps[index].launches[launchIndex].enteringUntil = end
            transition.emit(.tell(launch.id, .didEnterBackground(until: finishUp.end)))
        }
        tellRefresh(index, launchIndex, &transition)
        offerWaiting(index, launch.id, &transition)
        // One that lost its connection, and says nothing of what it had accepted.
        for delivery in launch.deliveries where delivery.state == .running {
            transition.emit(.tell(launch.id, .go(delivery.id, until: delivery.end)))
            withDelivery(delivery.id, index, launchIndex) { $0.isTold = false }
            tellExpiry(delivery.id, index, launchIndex, &transition)
        }
        tellExpiriesAgain(launch.id, index, &transition)
    }

    mutating func reconnected(
        _ id: LaunchID,
        _ index: Int,
        _ running: [DeliveryID],
        _ finished: [FinishedDelivery],
        _ transition: inout Transition
    ) {
        guard let launchIndex = apps[index].index(of: id) else { return }
        apps[index].launches[launchIndex].isConnected = true
        apps[index].launches[launchIndex].launchingUntil = nil
        save(app: index, launch: id)
        tellRefresh(index, launchIndex, &transition)
        for delivery in apps[index].launches[launchIndex].deliveries {
            guard let launchIndex = apps[index].index(of: id) else { return }
            let knows = running.contains(delivery.id)
            let end = finished.first { $0.delivery == delivery.id }
            // Its time may have come while nobody listened, or the word of it been lost.
            withDelivery(delivery.id, index, launchIndex) { $0.isTold = false }
            if knows || end != nil, delivery.state == .offered {
                accepted(delivery.id, index, launchIndex, &transition)
            }
            if let end {
                completed(delivery.id, end.result, index, launchIndex, &transition)
            } else {
                switch delivery.state {
                // Its receipt has just been taken, with go as the answer.
                case .offered where knows: break
                case .waiting, .offered: offer(delivery.id, index, launchIndex, &transition)
                // Also to one that works on it: the go that it has accepted for may be lost.
                case .running: transition.emit(.tell(id, .go(delivery.id, until: delivery.end)))
                }
            }
            if let launchIndex = apps[index].index(of: id) {
                tellExpiry(delivery.id, index, launchIndex, &transition)
            }
        }
        tellExpiriesAgain(id, index, &transition)
    }

    // MARK: Mistakes

    /// Once for each mode or identifier, and not for too many: an app that does it again and again
    /// fills no history.
    mutating func recordMistake(
        _ mistake: AppMistake,
        _ subject: String,
        app index: Int,
        _ transition: inout Transition
    ) {
        let reported = ReportedMistake(mistake: mistake, subject: subject)
        guard !apps[index].mistakes.contains(reported),
            apps[index].mistakes.count(where: { $0.mistake == mistake }) < 16
        else { return }
        apps[index].mistakes.append(reported)
        appendHistory(.note(mistake.summary + subject), app: index, &transition)
    }

    // MARK: Background refresh

    package func refreshStatus(of app: AppID) -> RefreshStatus {
        let isOn = settings.backgroundRefresh && settings.value.app(app).backgroundRefresh
        if isOn { return .available }
        return settings.value.isRefreshRestricted(of: app) ? .restricted : .denied
    }

    /// Tells an app whether background refresh is on, once for each change; one that is frozen
    /// learns of it when it goes on.
    mutating func tellRefresh(_ index: Int, _ launchIndex: Int, _ transition: inout Transition) {
        let launch = apps[index].launches[launchIndex]
        let status = refreshStatus(of: apps[index].id)
        guard launch.isConnected, !launch.isFrozen, launch.ending == nil,
            (launch.toldRefresh ?? .available) != status
        else { return }
        apps[index].launches[launchIndex].toldRefresh = status
        save(app: index, launch: launch.id)
        transition.emit(.tell(launch.id, .refreshChanged(status)))
    }

    mutating func tellRefresh(_ transition: inout Transition) {
        for owner in owners {
            guard let launchIndex = apps[owner.app].index(of: owner.launch) else { continue }
            tellRefresh(owner.app, launchIndex, &transition)
        }
    }

    /// Tells an app that the time of a delivery is over: once, as soon as the handler runs and
    /// somebody listens.
    mutating func tellExpiry(
        _ id: DeliveryID,
        _ index: Int,
        _ launchIndex: Int,
        _ transition: inout Transition
    ) {
        let launch = apps[index].launches[launchIndex]
        guard launch.isConnected, launch.ending == nil,
            let delivery = launch.deliveries.first(where: { $0.id == id }),
            delivery.warned, !delivery.isTold, delivery.state == .running
        else { return }
        withDelivery(id, index, launchIndex) { $0.isTold = true }
        save(app: index, launch: launch.id)
        transition.emit(
            .tell(launch.id, .expire(id, launch.wake?.stop ?? .timeout, until: delivery.end))
        )
    }
}
