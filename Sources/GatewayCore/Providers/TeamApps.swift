/// Which team of providers each app belongs to.
package struct TeamApps: Equatable, Sendable {
    private let owners: [String: String]
    /// There is at most one team.
    package let hasOneTeam: Bool

    /// `owners`: apps that have a team, by bundle identifier. `teams`: those that have keys.
    package init(_ owners: [(app: String, team: String)] = [], teams: [String] = []) {
        self.owners = Dictionary(owners.map { ($0.app, $0.team) }) { first, _ in first }
        hasOneTeam = Set(teams + owners.map(\.team)).count <= 1
    }

    /// It is no other team's.
    package func canBelong(_ bundle: String, to team: String) -> Bool {
        owners[bundle].map { $0 == team } ?? true
    }

    /// An app of no team is open while there is one team. With several it is closed to all of them:
    /// a device can make up any app, and the operator has not said whose it is.
    package func isOpen(_ bundle: String, to team: String) -> Bool {
        owners[bundle].map { $0 == team } ?? hasOneTeam
    }
}
