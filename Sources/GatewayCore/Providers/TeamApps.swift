/// Which team of providers each app belongs to.
package struct TeamApps: Equatable, Sendable {
    private let owners: [String: String]
    private let hasOneTeam: Bool

    /// `owners`: the teams of apps, by bundle identifier. `hasOneTeam`: there is no other.
    package init(_ owners: [String: String] = [:], hasOneTeam: Bool = true) {
        (self.owners, self.hasOneTeam) = (owners, hasOneTeam)
    }

    /// It is no other team's.
    package func mayBe(_ bundle: String, of team: String) -> Bool {
        owners[bundle].map { $0 == team } ?? true
    }

    /// An app of no team is open to the only one that there is. Of several, none may push to it:
    /// devices can make apps up, and the first to push would have them.
    package func isOpen(_ bundle: String, to team: String) -> Bool {
        if owners.isEmpty { return hasOneTeam }
        return owners[bundle].map { $0 == team } ?? hasOneTeam
    }
}
