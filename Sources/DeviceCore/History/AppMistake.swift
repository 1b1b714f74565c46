/// What an app did wrong, in the words of the history: the device writes them, `offstage lint`
/// finds them.
package enum AppMistake: Hashable, Sendable {
    case noHandler, noExpirationHandler, lateRegistration, completedTwice, notPermitted

    /// What it is about follows, where it is about something.
    package var words: String {
        switch self {
        case .noHandler: "no handler registered for "
        case .noExpirationHandler: "its time was over, and it had no expiration handler"
        case .lateRegistration: "said twice that it has finished launching"
        case .completedTwice: "completed twice, or what was never given: "
        case .notPermitted: "asked for what its manifest does not permit: "
        }
    }
}
