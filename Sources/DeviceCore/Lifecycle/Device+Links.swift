package import Vocabulary

/// The connection of an app: it comes up, is lost, comes again; and what is told of settings.
extension Device {
    /// Answers whoever waits for it, after the commit.
    func answer(_ reply: ReplyToken?, _ refusal: Refusal? = nil, _ step: inout Step) {
        guard let reply else { return }
        step.reply(reply, refusal.map { .refused($0) } ?? .done)
    }

    /// What an app learns of itself when it connects.
    mutating func greeting(_ index: Int, _ launchIndex: Int) -> Value {
        let launch = apps[index].launches[launchIndex]
        let status = refreshStatus(of: apps[index].id)
        apps[index].launches[launchIndex].toldRefresh = status
        return [
            "app": .string(apps[index].id.name), "launch": .integer(Int64(launch.id.number)),
            "state": launch.presence == .foreground ? "foreground" : "background",
            "background-refresh": .string(status.rawValue),
        ]
    }

    mutating func finishedLaunching(
        _ registered: [String],
        _ index: Int,
        _ launchIndex: Int,
        _ reply: ReplyToken?,
        _ step: inout Step
    ) {
        let launch = apps[index].launches[launchIndex]
        guard !launch.isConnected else {
            appendHistory(.note(AppMistake.finishedTwice.summary), app: index, &step)
            let refusal = Refusal(
                .invalid,
                reason: "launching is over, and with it the time to register handlers",
                value: registered.joined(separator: ", "),
                fix: "register them before FinishedLaunching"
            )
            answer(reply, refusal, &step)
            return
        }
        answer(reply, nil, &step)
        apps[index].launches[launchIndex].launchingUntil = nil
        apps[index].launches[launchIndex].isConnected = true
        apps[index].launches[launchIndex].registered = registered
        save(app: index, launch: launch.id)
        // By this an app tells a launch by its user from one in the background.
        if launch.presence == .foreground { step.emit(.tell(launch.id, .didBecomeActive)) }
        // Its user left while it was launching.
        if launch.presence == .background, let finishUp = launch.finishUp {
            let end = step.now.awake + settings.enteringBackground
            apps[index].launches[launchIndex].graceEnd = end
            apps[index].launches[launchIndex].enteringUntil = end
            step.emit(.tell(launch.id, .didEnterBackground(until: finishUp.end)))
        }
        tellRefresh(index, launchIndex, &step)
        offerWaiting(index, launch.id, &step)
        // One that lost its connection, and says nothing of what it had accepted.
        for delivery in launch.deliveries where delivery.state == .running {
            step.emit(.tell(launch.id, .go(delivery.id, until: delivery.end)))
            withDelivery(delivery.id, index, launchIndex) { $0.isTold = false }
            tellExpiry(delivery.id, index, launchIndex, &step)
        }
        tellExpiriesAgain(launch.id, index, &step)
    }

    mutating func reconnected(
        _ id: LaunchID,
        _ index: Int,
        _ running: [DeliveryID],
        _ finished: [FinishedDelivery],
        _ step: inout Step
    ) {
        guard let launchIndex = apps[index].index(of: id) else { return }
        apps[index].launches[launchIndex].isConnected = true
        apps[index].launches[launchIndex].launchingUntil = nil
        save(app: index, launch: id)
        tellRefresh(index, launchIndex, &step)
        for delivery in apps[index].launches[launchIndex].deliveries {
            guard let launchIndex = apps[index].index(of: id) else { return }
            let knows = running.contains(delivery.id)
            let end = finished.first { $0.delivery == delivery.id }
            // Its time may have come while nobody listened, or the word of it been lost.
            withDelivery(delivery.id, index, launchIndex) { $0.isTold = false }
            if knows || end != nil, delivery.state == .offered {
                accepted(delivery.id, index, launchIndex, &step)
            }
            if let end {
                completed(delivery.id, end.result, index, launchIndex, &step)
            } else {
                switch delivery.state {
                // Its receipt has just been taken, with go as the answer.
                case .offered where knows: break
                case .waiting, .offered: offer(delivery.id, index, launchIndex, &step)
                // Also to one that works on it: the go that it has accepted for may be lost.
                case .running: step.emit(.tell(id, .go(delivery.id, until: delivery.end)))
                }
            }
            if let launchIndex = apps[index].index(of: id) {
                tellExpiry(delivery.id, index, launchIndex, &step)
            }
        }
        tellExpiriesAgain(id, index, &step)
    }

    // MARK: Mistakes

    /// Once for each mode or identifier, and not for too many: an app that does it again and again
    /// fills no history.
    mutating func recordMistake(
        _ mistake: AppMistake,
        _ subject: String,
        app index: Int,
        _ step: inout Step
    ) {
        let reported = ReportedMistake(mistake: mistake, subject: subject)
        guard !apps[index].mistakes.contains(reported),
            apps[index].mistakes.count(where: { $0.mistake == mistake }) < 16
        else { return }
        apps[index].mistakes.append(reported)
        appendHistory(.note(mistake.summary + subject), app: index, &step)
    }

    // MARK: Background refresh

    package func refreshStatus(of app: AppID) -> RefreshStatus {
        let isOn = settings.backgroundRefresh && settings.value.app(app).backgroundRefresh
        if isOn { return .available }
        return settings.value.isRefreshRestricted(of: app) ? .restricted : .denied
    }

    /// Tells an app whether background refresh is on, once for each change; one that is frozen
    /// learns of it when it goes on.
    mutating func tellRefresh(_ index: Int, _ launchIndex: Int, _ step: inout Step) {
        let launch = apps[index].launches[launchIndex]
        let status = refreshStatus(of: apps[index].id)
        guard launch.isConnected, !launch.isFrozen, launch.ending == nil,
            (launch.toldRefresh ?? .available) != status
        else { return }
        apps[index].launches[launchIndex].toldRefresh = status
        save(app: index, launch: launch.id)
        step.emit(.tell(launch.id, .refreshChanged(status)))
    }

    mutating func tellRefresh(_ step: inout Step) {
        for owner in owners {
            guard let launchIndex = apps[owner.app].index(of: owner.launch) else { continue }
            tellRefresh(owner.app, launchIndex, &step)
        }
    }
}
