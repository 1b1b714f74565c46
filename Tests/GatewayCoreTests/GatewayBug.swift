import GatewayCore
import Vocabulary

/// What a test breaks in a gateway, or in what it hears.
struct GatewayBug: Sendable {
    /// What it does instead of an action.
    var action: (@Sendable (GatewayAction) -> [GatewayAction])?
    /// What it hears instead of an event.
    var event: (@Sendable (GatewayEvent) -> [GatewayEvent])?
    /// What it allows, if that is not what it should.
    var limits: (@Sendable (inout GatewayLimits) -> Void)?
    /// Which time it sees.
    var clock: (@Sendable (Moment) -> Moment)?
    /// What it reads of a provider's request.
    var request: (@Sendable (inout PushArrival) -> Void)?
    /// Of the providers' key, instead of what it is.
    var quota: KeyQuota?
    /// Which certificates it takes for revoked.
    var revoked: (@Sendable (Set<String>) -> Set<String>)?
    /// Providers make room for strangers.
    var forgetsProviders = false
    /// How long it takes an acceptance to have taken.
    var span: (@Sendable (Interval) -> Interval)?
}
