package import Vocabulary

/// Which of the two worlds of the interface a gateway, or a key, is for.
package enum PushEnvironment: String, CaseIterable, Sendable {
    case production
    case development
}

/// A key with which providers sign their tokens, as the gateway knows it.
package struct ProviderKey: Equatable, Sendable {
    package var id: String
    package var team: String
    /// The bundle identifiers that it may push to; nil: any (a team's key).
    package var topics: [String]?
    /// Nil: both.
    package var environment: PushEnvironment?

    package init(
        id: String,
        team: String,
        topics: [String]? = nil,
        environment: PushEnvironment? = nil
    ) {
        (self.id, self.team) = (id, team)
        (self.topics, self.environment) = (topics, environment)
    }

    package func covers(_ bundle: String) -> Bool { topics?.contains(bundle) ?? true }
}

/// What a client certificate says.
package struct ProviderCertificate: Equatable, Sendable {
    /// SHA-256, in hexadecimal; its name in the log.
    package var fingerprint: String
    /// The first is the default topic.
    package var topics: [String]
    /// Nil: both.
    package var environment: PushEnvironment?

    package init(fingerprint: String, topics: [String], environment: PushEnvironment? = nil) {
        (self.fingerprint, self.topics, self.environment) = (fingerprint, topics, environment)
    }
}

/// What one connection of a provider has shown so far, and what may follow.
package struct ProviderSession: Equatable, Sendable {
    private var team: String?
    private var isTeamKey = true
    private var keyID = ""
    private var token: [UInt8] = []
    private var since = BootTime(nanoseconds: 0)
    private var blockedUntil: BootTime?

    package init() {}

    /// Whether this token was the last one taken, so that only its age is to be looked at.
    package func isCurrent(_ text: ArraySlice<UInt8>) -> Bool {
        token[...] == text
    }

    /// A token whose signature is right, with the key that made it, wants to be used for a topic.
    package mutating func use(
        _ text: ArraySlice<UInt8>,
        issuedAt: Int64,
        key: ProviderKey,
        bundle: String,
        environment: PushEnvironment,
        _ limits: GatewayLimits,
        at now: Moment
    ) -> Reason? {
        let age = now.wall - WallTime(nanoseconds: Interval.seconds(issuedAt).nanoseconds)
        if age > limits.tokenAge { return .expiredProviderToken }
        // From the future, beyond what clocks differ.
        if age < .zero - .minutes(10) { return .invalidProviderToken }
        if let until = blockedUntil {
            if now.boot < until { return .tooManyProviderTokenUpdates }
            blockedUntil = nil
        }
        if !isCurrent(text) {
            if let reason = change(key, environment, limits, at: now) { return reason }
            token = Array(text)
            since = now.boot
        }
        return key.covers(bundle) ? nil : .invalidProviderToken
    }

    private mutating func change(
        _ key: ProviderKey,
        _ environment: PushEnvironment,
        _ limits: GatewayLimits,
        at now: Moment
    ) -> Reason? {
        guard key.environment == nil || key.environment == environment else {
            return .badEnvironmentKeyIDInToken
        }
        if let team {
            if key.team != team { return .invalidProviderToken }
            let isTeams = key.topics == nil
            if isTeams != isTeamKey || !isTeams && key.id != keyID {
                return .unrelatedKeyIDInToken
            }
            if now.boot < since + limits.tokenRenewal {
                // Unusable until a new one could have been taken.
                blockedUntil = since + limits.tokenRenewal
                return .tooManyProviderTokenUpdates
            }
        }
        team = key.team
        isTeamKey = key.topics == nil
        keyID = key.id
        return nil
    }

    /// Whether a certificate may push to a topic.
    package static func refusal(
        of certificate: ProviderCertificate,
        bundle: String,
        environment: PushEnvironment
    ) -> Reason? {
        guard certificate.environment == nil || certificate.environment == environment else {
            return .badCertificateEnvironment
        }
        return certificate.topics.contains(bundle) ? nil : .topicDisallowed
    }
}
