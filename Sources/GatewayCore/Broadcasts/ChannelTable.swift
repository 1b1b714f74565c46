import Vocabulary

/// All channels, and the links that follow each. Who follows what is the device's to know: it says
/// so at each connection, with the last message that it had.
struct ChannelTable: Sendable {
    struct Follow: Sendable {
        var channel: ChannelID
        var last: UInt64
    }

    private(set) var channels: [ChannelID: Channel] = [:]
    private var byApp: [AppNumber: [ChannelID]] = [:]
    /// In the order in which they came.
    private var followers: [ChannelID: [LinkID]] = [:]
    private var follows: [LinkID: [Follow]] = [:]

    func all(of app: AppNumber) -> [ChannelID] { byApp[app] ?? [] }
    func followers(of channel: ChannelID) -> [LinkID] { followers[channel] ?? [] }
    func follows(of link: LinkID) -> [Follow] { follows[link] ?? [] }

    mutating func add(_ channel: Channel) {
        if channels.updateValue(channel, forKey: channel.id) == nil {
            byApp[channel.app, default: []].append(channel.id)
        }
    }

    /// Those who follow it do so until `removeFollowers`.
    mutating func remove(_ id: ChannelID) -> Channel? {
        guard let channel = channels.removeValue(forKey: id) else { return nil }
        byApp[channel.app]?.removeAll { $0 == id }
        return channel
    }

    /// Those who followed it.
    mutating func removeFollowers(of id: ChannelID) -> [LinkID] {
        let links = followers.removeValue(forKey: id) ?? []
        for link in links { follows[link]?.removeAll { $0.channel == id } }
        return links
    }

    mutating func keep(_ broadcast: Broadcast) { channels[broadcast.channel]?.newest = broadcast }

    /// What the store knows; those who follow do so still.
    mutating func replace(_ list: [Channel]) {
        (channels, byApp) = ([:], [:])
        for channel in list { add(channel) }
    }

    mutating func follow(_ id: ChannelID, last: UInt64, over link: LinkID) {
        if let index = follows[link]?.firstIndex(where: { $0.channel == id }) {
            follows[link]?[index].last = last
            return
        }
        follows[link, default: []].append(Follow(channel: id, last: last))
        followers[id, default: []].append(link)
    }

    mutating func unfollow(_ id: ChannelID, over link: LinkID) {
        follows[link]?.removeAll { $0.channel == id }
        leave(id, link)
    }

    mutating func sent(_ broadcast: Broadcast, over link: LinkID) {
        guard let index = follows[link]?.firstIndex(where: { $0.channel == broadcast.channel })
        else { return }
        follows[link]?[index].last = broadcast.number.number
    }

    mutating func ended(_ link: LinkID) {
        guard let list = follows.removeValue(forKey: link) else { return }
        for follow in list { leave(follow.channel, link) }
    }

    private mutating func leave(_ id: ChannelID, _ link: LinkID) {
        followers[id]?.removeAll { $0 == link }
        if followers[id]?.isEmpty == true { followers[id] = nil }
    }
}
