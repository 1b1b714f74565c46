import GatewayCore
import Vocabulary

/// What the operator does, what providers do with channels, and what long times bring.
extension GatewayWorld {
    /// What somebody waits for.
    enum Operation {
        case removesDevice(DeviceID)
        case removesApp(AppNumber)
        case createsChannel(ChannelID, String)
        case removesChannel(ChannelID)
    }

    mutating func operate(_ index: Int) {
        switch random.below(14) {
        case 13: revoke()
        case 12: changeApps()
        case 0..<2:
            guard let device = store.keys[devices[index].key] else { return }
            feed(.removeDevice(device, begin(.removesDevice(device))))
        case 2..<4:
            let bundle = (apps + rareApps)[pick(5)]
            guard let app = driver.apps.number(of: bundle) else { return }
            feed(.removeApp(bundle, begin(.removesApp(app))))
        case 4..<7: changeLimits()
        case 7: letDaysPass()
        case 8..<11:
            createChannel(of: apps[pick(3)])
        default: removeChannel()
        }
    }

    private mutating func begin(_ what: Operation) -> OperationID {
        let operation = OperationID(serial())
        operations[operation] = what
        return operation
    }

    mutating func isDone(_ operation: Operation) {
        switch operation {
        case .removesDevice(let device):
            count("removals")
            figures.removedDevices += 1
            endTokens { $0.device == device }
        case .removesApp(let app):
            count("removed apps")
            endTokens { $0.app == app }
        case .createsChannel(let id, let bundle):
            count("channels")
            channels[id] = bundle
        case .removesChannel(let id):
            channels[id] = nil
            for index in devices.indices { devices[index].follows.remove(id) }
        }
    }

    /// The operator takes it away at this moment, or has.
    func isLeaving(_ app: AppNumber) -> Bool {
        store.bundles[app] == nil
            || operations.values.contains {
                if case .removesApp(app) = $0 { true } else { false }
            }
    }

    /// The same; or nobody has it, and the gateway takes it away by itself.
    func mayLeave(_ app: AppNumber) -> Bool {
        isLeaving(app)
            || !store.registrations.contains { $0.key.app == app && $0.value.isActive }
    }

    /// Whoever asked for it is told why it is not done.
    mutating func failed(_ operation: Operation, _ problem: OperationProblem) {
        switch operation {
        case .removesDevice: break
        // An app that was forgotten, and is there again, has its budgets anew.
        case .removesApp: wakes = [:]
        case .createsChannel(_, let bundle): refused(problem, channelOf: bundle)
        case .removesChannel(let id): refused(problem, channelOf: channels[id] ?? "a.none")
        }
    }

    /// A provider's change of channels is not made: that is a refusal like any other.
    private mutating func refused(_ problem: OperationProblem, channelOf bundle: String) {
        switch problem {
        case .unknown, .notKept:
            count("channels not kept")
            figures.refused(.serviceUnavailable, key: false)
        case .refused(let reason):
            count("too many channels")
            figures.refused(reason, key: false)
            // What is on its way to the disk counts as well.
            guard driver.isSettled else { return }
            let kept = store.channels.values.count { store.bundles[$0.app] == bundle }
            if reason != .cannotCreateChannel || kept < limits.channelsPerApp {
                report(.channelRefused, "no channel of \(bundle), which has \(kept): \(reason)")
            }
        }
    }

    private mutating func endTokens(where isMeant: (DeviceToken) -> Bool) {
        for index in devices.indices {
            for app in apps + rareApps {
                guard let token = devices[index].tokens[app], isMeant(token) else { continue }
                devices[index].tokens[app] = nil
                end(token, of: index)
            }
        }
    }

    /// Those that no promise rests on that was made before.
    private mutating func changeLimits() {
        count("changed limits")
        limits.acknowledgement = .seconds(1 + Int64(random.below(5)))
        limits.storage = random.below(2) == 0 ? .days(30) : .minutes(10)
        // What is on its way is stored as it is then.
        let end = now.wall + limits.storage
        for call in calls.keys { calls[call]?.keep(until: end) }
        if limits.devicesInMemory <= devices.count { limits.devicesInMemory = 1 + pick(6) }
        driver.use(driverLimits)
    }

    /// Which apps devices may register. What was asked before may still be granted.
    private mutating func changeApps() {
        isAllowedSure = false
        count("changed apps")
        allowed = random.below(2) == 0 ? nil : apps + (random.below(2) == 0 ? ["a.four"] : [])
        driver.useApps(allowed: allowed, named: named)
    }

    /// Those that keys of providers name.
    var named: [String] { ["a.five"] }

    /// The gateway serves for more than a day, and devices that are away may be taken for gone.
    private mutating func letDaysPass() {
        count("days")
        for _ in 0..<40 {
            move(.minutes(50))
            feed(.passed)
            feed(.sweep)
            feed(.turnEnded)
            while serveStore() { feed(.turnEnded) }
        }
    }

    // MARK: Channels

    private mutating func anyChannel() -> ChannelID? {
        let all = channels.keys.sorted()
        return all.isEmpty ? nil : all[pick(all.count)]
    }

    mutating func talkInChannels(_ index: Int) {
        guard let id = anyChannel(), let bundle = channels[id] else { return }
        switch random.below(5) {
        case 0..<2: broadcast(id, bundle)
        case 2..<4:
            guard let link = devices[index].link else { return }
            let last = devices[index].heard[id] ?? 0
            // What it is sent at once comes before the answer.
            devices[index].follows.insert(id)
            feed(.link(link, .follow(id, bundle: bundle, last: last)))
        default:
            // Else broadcasts may come that were there before.
            guard let link = devices[index].link, driver.isSettled else { return }
            devices[index].follows.remove(id)
            feed(.link(link, .unfollow(id)))
        }
    }

    /// A request about channels, as the core takes it.
    private mutating func order(
        _ method: String,
        _ path: String,
        channel: ChannelID? = nil,
        type: String? = nil,
        _ body: String = ""
    ) throws(Reason) -> ChannelVerdict? {
        guard let path = ChannelPath(Array(path.utf8)[...]) else { return nil }
        var arrival = PushArrival()
        arrival.method = Array(method.utf8)[...]
        arrival.authorization = Array("t".utf8)[...]
        arrival.push.pushType = type.map { Array($0.utf8)[...] }
        arrival.push.payload = Array(body.utf8)
        bug.request?(&arrival)
        defer { learn(.key) }
        let second = told.wall.nanoseconds / 1_000_000_000
        return try driver.admit(
            ChannelArrival(path, arrival, field: channel.map { Array($0.text.utf8)[...] }),
            from: &senders[0].sender,
            OpenProofs(second: second, quota: bug.quota ?? quota),
            .production,
            at: told
        )
    }

    private mutating func createChannel(of bundle: String) {
        guard isConnected(.key) else { return }
        let policy = random.below(3) > 0 ? 1 : 0
        let body = "{\"push-type\":\"LiveActivity\",\"message-storage-policy\":\(policy)}"
        guard
            case .create(bundle, let keepsNewest)? = try? order(
                "POST",
                "/1/apps/\(bundle)/channels",
                body
            ), keepsNewest == (policy == 1)
        else { return report(.channelVerdict, "a channel was not to be made") }
        let id = ChannelID(high: random.below(.max), low: serial())
        let operation = begin(.createsChannel(id, bundle))
        feed(.createChannel(id, bundle: bundle, keepsNewest: keepsNewest, operation))
    }

    private mutating func removeChannel() {
        guard let id = anyChannel(), let bundle = channels[id], isConnected(.key) else { return }
        do throws(Reason) {
            guard case .remove(id)? = try order("DELETE", "/1/apps/\(bundle)/channels", channel: id)
            else { return report(.channelVerdict, "another channel was to be removed") }
            feed(.removeChannel(id, begin(.removesChannel(id))))
        } catch {
            figures.refused(error, key: false)
            isRefused(id, error)
        }
    }

    private mutating func isRefused(_ id: ChannelID, _ reason: Reason) {
        // As long as it is on the disk nothing else may be said than that it is being removed.
        guard store.channels[id] != nil, reason != .serviceUnavailable || driver.isSettled
        else { return }
        report(.channelRefused, "a request about a channel was refused for \(reason)")
    }

    private mutating func broadcast(_ id: ChannelID, _ bundle: String) {
        guard isConnected(.key) else { return }
        do throws(Reason) {
            guard
                case .send(let message, let provider)? = try order(
                    "POST",
                    "/4/broadcasts/apps/\(bundle)",
                    channel: id,
                    type: "liveactivity",
                    "{\"aps\":{\"event\":\"update\"}}"
                )
            else { return report(.channelVerdict, "a broadcast was not to be sent") }
            useQuota(since: now.boot)
            count("broadcasts")
            let call = CallID(serial())
            broadcastCalls[call] = message
            feed(.broadcast(message, provider: provider, call))
        } catch {
            figures.refused(error, key: false)
            if error == .tooManyRequests, quota != nil { return count("over quota") }
            isRefused(id, error)
        }
    }

    mutating func answered(_ broadcast: Broadcast, _ answer: Answer) {
        guard case .accepted(let number) = answer else { return }
        figures.broadcasts += 1
        if !numbers.insert(number).inserted { report(.numberTwice, "\(number) was given twice") }
        if case .until = broadcast.expiration { keptBroadcasts.append(broadcast) }
    }

    mutating func follows(_ link: LinkID, _ channel: ChannelID, _ problem: FollowProblem?) {
        guard problem != nil else { return }
        if store.channels[channel] != nil {
            report(.followRefused, "\(channel.text) is on the disk, and is said to be none")
        }
        guard let index = devices.firstIndex(where: { $0.link == link }) else { return }
        devices[index].follows.remove(channel)
    }

    mutating func hears(_ broadcast: Broadcast, over link: LinkID) {
        guard let index = devices.firstIndex(where: { $0.link == link }) else { return }
        count("heard")
        if !devices[index].follows.contains(broadcast.channel) {
            report(.notFollowed, "\(broadcast.number) went to one that does not follow its channel")
        }
        let last = devices[index].heard[broadcast.channel] ?? 0
        // It may have told its last before this one went out.
        if last > broadcast.number.number {
            report(.broadcastBehind, "\(broadcast.number) went out behind \(last)")
        }
        devices[index].heard[broadcast.channel] = broadcast.number.number
    }

    /// What was answered 200 and is to be kept is the newest of its channel, or gave way to it; and
    /// whoever follows and is there has it.
    mutating func checkChannels() {
        for broadcast in keptBroadcasts {
            guard case .until(let end) = broadcast.expiration, end > now.wall,
                let channel = store.channels[broadcast.channel]
            else { continue }
            if channel.newest.map({ $0.number < broadcast.number }) ?? true {
                report(.broadcastLost, "broadcast \(broadcast.number) was answered 200 and is lost")
            }
            for device in devices where device.follows.contains(channel.id) && !device.isCongested {
                if device.heard[channel.id] ?? 0 < broadcast.number.number {
                    report(.broadcastMissed, "\(broadcast.number) did not reach who follows")
                }
            }
        }
    }
}
