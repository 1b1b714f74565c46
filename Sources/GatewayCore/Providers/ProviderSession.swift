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
    /// The bundle identifiers that it may push to; nil: all of its team's.
    package var topics: [String]?
    package var apps = TeamApps()
    /// Nil: both.
    package var environment: PushEnvironment?
    /// Nil: as many pushes as it likes.
    package var quota: KeyQuota?

    package init(
        id: String,
        team: String,
        topics: [String]? = nil,
        environment: PushEnvironment? = nil
    ) {
        (self.id, self.team) = (id, team)
        (self.topics, self.environment) = (topics, environment)
    }

    /// An app of no team that the operator gave to this very key is open to it.
    package func covers(_ bundle: String) -> Bool {
        guard let topics else { return apps.isOpen(bundle, to: team) }
        return topics.contains(bundle) && apps.canBelong(bundle, to: team)
    }
}

/// What a client certificate says.
package struct ProviderCertificate: Equatable, Sendable {
    /// SHA-256, in hexadecimal; its name in the log.
    package var fingerprint: String
    /// Whole, as in `apns-topic`. The first that fits a push is its default.
    package var topics: [String]
    /// These and no others; else an app's name stands for all kinds of pushes to it.
    package var isComplete: Bool
    /// Nil: both.
    package var environment: PushEnvironment?

    package init(
        fingerprint: String,
        topics: [String],
        isComplete: Bool = false,
        environment: PushEnvironment? = nil
    ) {
        (self.fingerprint, self.topics, self.environment) = (fingerprint, topics, environment)
        self.isComplete = isComplete
    }

    /// By what stands in a certificate: the user id of its subject, and Apple's extensions. Nil
    /// when it is for no topic. `listed`: what the extension for topics says, if there is one.
    package init?(
        fingerprint: String,
        userID: String?,
        listed: [String]?,
        isDevelopment: Bool,
        isProduction: Bool
    ) {
        // The kinds stand among the topics, by plain words.
        var topics = (listed ?? []).filter { $0.utf8.contains(UInt8(ascii: ".")) }
        if let userID, !topics.contains(userID) { topics.insert(userID, at: 0) }
        guard !topics.isEmpty else { return nil }
        self.init(
            fingerprint: fingerprint,
            topics: topics,
            isComplete: listed != nil,
            environment: isDevelopment == isProduction
                ? nil : isProduction ? .production : .development
        )
    }

    /// `type` nil: it is about the app, not about a push.
    func covers(_ bundle: String, _ type: PushType?) -> Bool {
        switch type {
        // By token only.
        case .location: return false
        // By the certificate of who manages the device.
        case .mdm: return topics.first == bundle && bundle.hasPrefix("com.apple.mgmt.")
        case .some, .none: break
        }
        guard isComplete, let type, type.topicSuffix.utf8CodeUnitCount > 0 else {
            return topics.contains(bundle)
        }
        return topics.contains(bundle + type.topicSuffix.description)
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

    /// A token whose signature is right, with the key that made it, wants to be used for a topic;
    /// `bundle` nil: for none.
    package mutating func use(
        _ text: ArraySlice<UInt8>,
        issuedAt: Int64,
        key: ProviderKey,
        bundle: String?,
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
        guard key.environment == nil || key.environment == environment else {
            return .badEnvironmentKeyIDInToken
        }
        if isCurrent(text) {
            isTeamKey = key.topics == nil
        } else {
            if let reason = change(key, limits, at: now) { return reason }
            token = Array(text)
            since = now.boot
        }
        guard let bundle else { return nil }
        return key.covers(bundle) ? nil : .invalidProviderToken
    }

    private mutating func change(
        _ key: ProviderKey,
        _ limits: GatewayLimits,
        at now: Moment
    ) -> Reason? {
        if let team {
            if key.team != team { return .invalidProviderToken }
            // Also after a reload that gave the same key other topics.
            let isTeams = key.topics == nil
            if key.id != keyID, !(isTeams && isTeamKey) { return .unrelatedKeyIDInToken }
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
        bundle: String?,
        type: PushType? = nil,
        environment: PushEnvironment
    ) -> Reason? {
        guard certificate.environment == nil || certificate.environment == environment else {
            return .badCertificateEnvironment
        }
        guard let bundle else { return nil }
        return certificate.covers(bundle, type) ? nil : .topicDisallowed
    }
}
