/// Which team of providers each app belongs to.
package struct TeamApps: Equatable, Sendable {
    private let owners: [String: String]
    private let hasOneTeam: Bool

    /// `owners`: the teams of apps, by bundle identifier. `hasOneTeam`: there is no other.
    package init(_ owners: [String: String] = [:], hasOneTeam: Bool = true) {
        (self.owners, self.hasOneTeam) = (owners, hasOneTeam)
    }

    /// It is no other team's.
    package func canBelong(_ bundle: String, to team: String) -> Bool {
        owners[bundle].map { $0 == team } ?? true
    }

    /// An app of no team is open while there is one team. With several it is closed to all of them:
    /// a device can make up any app, and the operator has not said whose it is.
    package func isOpen(_ bundle: String, to team: String) -> Bool {
        if owners.isEmpty { return hasOneTeam }
        return owners[bundle].map { $0 == team } ?? hasOneTeam
    }
}
