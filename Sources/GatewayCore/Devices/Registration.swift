package import Vocabulary

/// The registrations of one app on one device: the token that is in force, and those that are gone.
package struct Registration: Equatable, Sendable {
    /// A token that is no longer in force.
    package struct Ended: Equatable, Sendable {
        package var generation: UInt16
        /// When that was known: the timestamp of a 410.
        package var at: WallTime

        package init(generation: UInt16, at: WallTime) {
            (self.generation, self.at) = (generation, at)
        }
    }

    package let app: AppNumber
    package var generation: UInt16
    /// Whether the token of `generation` is in force.
    package var isActive: Bool
    /// The last that ended, the newest at the end; of older ones only that they ended by then.
    package var ended: [Ended]

    package static let endedLimit = 8

    package init(
        app: AppNumber,
        generation: UInt16,
        isActive: Bool,
        ended: [Ended] = []
    ) {
        (self.app, self.generation, self.isActive) = (app, generation, isActive)
        self.ended = ended
    }

    /// When the token of `generation` ended; nil while it is in force, and for one never given.
    package func end(of generation: UInt16) -> WallTime? {
        if isActive, generation == self.generation { return nil }
        return ended.last { $0.generation == generation }?.at ?? ended.first?.at
    }

    mutating func end(at wall: WallTime) {
        guard isActive else { return }
        isActive = false
        ended.append(Ended(generation: generation, at: wall))
        if ended.count > Self.endedLimit { ended.removeFirst() }
    }

    /// A new token; the one in force ends.
    mutating func renew(at wall: WallTime) {
        end(at: wall)
        generation &+= 1
        isActive = true
    }
}

/// Why an app gets no token, or no address.
package enum RegistrationRefusal: Sendable, CaseIterable {
    /// The device has as many as a device may have.
    case tooMany
    /// Nobody sends to it here.
    case unknown
    /// The sender's key of Web Push is invalid.
    case badKey
    /// Not now: it may ask again.
    case unavailable
}
