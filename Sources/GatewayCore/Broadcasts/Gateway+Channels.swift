package import Vocabulary

extension Gateway {
    /// What the store knows of channels: at the start, and when a batch could not be written.
    package mutating func load(_ channels: [Channel]) { self.channels.replace(channels) }

    package var channelCount: Int { channels.channels.count }

    package func channel(_ id: ChannelID) -> Channel? { channels.channels[id] }

    /// The channels of an app, in the order of their ids.
    package func channels(of app: AppNumber) -> [ChannelID] {
        channels.all(of: app).sorted()
    }

    /// Why an app cannot have one more channel; nil when it can. `app` nil: nobody has it yet.
    package func channelRefusal(for app: AppNumber?) -> Reason? {
        guard limits.channelsPerApp > 0 else { return .featureNotEnabled }
        guard let app, channels.all(of: app).count >= limits.channelsPerApp else { return nil }
        return .cannotCreateChannel
    }

    package mutating func create(_ channel: Channel, into effects: inout [GatewayEffect]) {
        channels.add(channel)
        effects.append(.saveChannel(channel))
    }

    /// Why an app cannot use a channel; nil when it can.
    package func refusal(of id: ChannelID, for app: AppNumber?) -> Reason? {
        guard let channel = channels.channels[id] else { return .channelNotRegistered }
        return channel.app == app ? nil : .topicMismatch
    }

    /// Those who follow it are told when its removal is kept: who is told does not ask again.
    package mutating func remove(_ id: ChannelID, into effects: inout [GatewayEffect]) {
        guard let channel = channels.remove(id) else { return }
        effects.append(.removeChannel(channel))
    }

    package mutating func finishRemoval(
        of id: ChannelID,
        into effects: inout [GatewayEffect]
    ) {
        for link in channels.removeFollowers(of: id) {
            effects.append(.follows(link, id, .noChannel))
        }
    }

    /// A provider's message was checked and goes to all that follow its channel; `call` waits for
    /// the answer.
    package mutating func take(
        _ broadcast: Broadcast,
        from provider: String,
        for call: CallID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard let channel = channels.channels[broadcast.channel] else {
            effects.append(.answer(call, .refused(.channelNotRegistered), afterCommit: false))
            return
        }
        let isKept = channel.keepsNewest && !broadcast.isOver(at: now.wall)
        // Counted when its provider gets the answer.
        if isKept {
            filling.broadcasts += 1
            channels.keep(broadcast)
            effects.append(.keepBroadcast(broadcast))
        } else {
            counters.broadcasts += 1
        }
        let before = counters.broadcastsSent
        // One that wakes nobody goes along with the next sign of life.
        if broadcast.priority != .passive {
            for link in channels.followers(of: broadcast.channel) {
                send(broadcast, over: link, into: &effects)
            }
        }
        let devices = Int(clamping: counters.broadcastsSent - before)
        let event = LogEvent.sent(devices: devices, isKept: isKept)
        effects.append(
            .logBroadcast(broadcast, channel.app, event, now.wall, provider: provider)
        )
        effects.append(.answer(call, .accepted(broadcast.number), afterCommit: isKept))
    }

    private mutating func send(
        _ broadcast: Broadcast,
        over link: LinkID,
        into effects: inout [GatewayEffect]
    ) {
        guard let device = self.device(of: link), devices[device]?.isCongested == false
        else { return }
        counters.broadcastsSent += 1
        channels.sent(broadcast, over: link)
        effects.append(.broadcast(link, broadcast))
    }

    /// A device follows a channel of one of its apps, and had its messages up to `last`.
    package mutating func follow(
        _ id: ChannelID,
        of app: AppNumber?,
        last: UInt64,
        over link: LinkID,
        at now: Moment,
        into effects: inout [GatewayEffect]
    ) {
        guard device(of: link) != nil else { return }
        guard refusal(of: id, for: app) == nil else {
            effects.append(.follows(link, id, .noChannel))
            return
        }
        let known = channels.follows(of: link)
        guard known.count < limits.channelsPerDevice || known.contains(where: { $0.channel == id })
        else {
            effects.append(.follows(link, id, .tooMany))
            return
        }
        channels.follow(id, last: last, over: link)
        effects.append(.follows(link, id, nil))
        catchUp(link, at: now, into: &effects)
    }

    package mutating func unfollow(_ id: ChannelID, over link: LinkID) {
        channels.unfollow(id, over: link)
    }

    /// Sends what is kept of the channels that a link follows and has not had.
    mutating func catchUp(_ link: LinkID, at now: Moment, into effects: inout [GatewayEffect]) {
        for follow in channels.follows(of: link) {
            guard let newest = channels.channels[follow.channel]?.newest,
                newest.number.number > follow.last, !newest.isOver(at: now.wall)
            else { continue }
            send(newest, over: link, into: &effects)
        }
    }
}
