/// Something that must not be, seen in a gateway's world.
struct WorldProblem: Equatable, CustomStringConvertible {
    /// Each is raised by a planted bug (`PlantedGatewayBugTests`).
    enum Kind: String, CaseIterable {
        // What devices see.
        case tokenBack, sentTwice, sentExpired, sentToEnded, sentBehind, tookPlace
        case silentCondition, silentBudget, refusedApp, allowedApp
        case unknownConnected, waits, waitsAfterContact
        // What providers see.
        case answeredTwice, providersWait, lost, numberTwice, quotaUnspent, quotaExceeded
        case refusedAtOnce, refusedLater, faultTaken, wrongReason
        case logAnswer, logHidden, logForgotten, logWaits
        case goneTooSoon, goneTime, endedTaken, endedNotGone, needlesslyUnavailable
        // Channels.
        case channelVerdict, channelRefused, followRefused, notFollowed, broadcastBehind
        case broadcastLost, broadcastMissed
        // Who may be connected.
        case doors, enrolledUnasked, providerDisplaced, revokedTaken
        // What operators see.
        case doneTwice, operatorWaits
        case acceptedCount, broadcastCount, broadcastsSentCount, storedCount, replacedCount
        case throttledCount, expiredCount, droppedCount, failureCount, goneCount, channelCount
        case deliveredCount, deliveryTimes, refusalCounts, webPushRefusalCounts, keyCounts
        case acceptanceTimes
        // What the store sees.
        case twoBatches, deviceTwice, appTwice, onceStored, slotBack, wrongPlace, channelBack
        case appInUse, channelOfNoApp, keptForNobody, tooManyWebPushes, topicTwice
        // The gateway itself.
        case restless, rememberedDevices
    }

    let kind: Kind
    let text: String

    init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }

    var description: String { "\(kind): \(text)" }
}
