package import GatewayCore

/// The links of devices, as the node sees them. All on the loop's thread, during a turn.
package protocol DeviceLinks: AnyObject {
    func send(_ sending: Sending, over link: LinkID)
    /// The app's token, kept for good.
    func registered(_ bundle: String, token: [UInt8], over link: LinkID)
    /// The address for the sender of Web Push with this key.
    func subscribed(_ bundle: String, key: [UInt8], endpoint: String, over link: LinkID)
    /// The app gets neither.
    func refused(_ bundle: String, _ why: RegistrationRefusal, over link: LinkID)
    func send(_ broadcast: Broadcast, over link: LinkID)
    /// Whether the link follows the channel from now on; else why not.
    func follows(_ channel: ChannelID, _ why: FollowProblem?, over link: LinkID)
    func unregistered(_ bundle: String, over link: LinkID)
    /// The link is not the node's any more; its device is to be told why and disconnected.
    func end(_ link: LinkID, _ why: LinkEnd)
}

/// Those who wait for the answer to a push.
package protocol PushSenders: AnyObject {
    func answer(_ call: CallID, _ answer: Answer)
    /// What became of a push that was asked about.
    func tell(_ call: CallID, _ answer: LogAnswer)
}
