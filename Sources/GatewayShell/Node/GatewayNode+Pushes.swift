package import GatewayCore
package import Vocabulary

/// What providers bring.
extension GatewayNode {
    /// Counts a push against the rate of its token; false when there are too many.
    func admit(_ token: DeviceToken, at now: Moment) -> Bool { gateway.admit(token, at: now) }

    package func takeNumber(at now: Moment) -> PushNumber { gateway.takeNumber(at: now) }

    package func take(_ push: Push, _ acceptance: Acceptance, for call: CallID) {
        event { $0.take(push, acceptance, for: call, at: $1, into: &$2) }
    }
}

extension GatewayNode {
    /// The limits from now on; buckets that are there keep their size until their device is read
    /// again.
    func setLimits(_ limits: GatewayLimits) {
        if (limits.newApps, limits.newAppRefill)
            != (gateway.limits.newApps, gateway.limits.newAppRefill)
        {
            apps.useLimits(limits)
        }
        gateway.limits = limits
    }
}
