public import Foundation

/// A name and a password for a server.
public class URLCredential: NSObject, @unchecked Sendable {  // Never changes.
    /// How long it is kept. Nothing is ever written to disk.
    public enum Persistence: UInt, Sendable {
        /// For one task.
        case none = 0
        /// For all tasks of the session, until the daemon is restarted.
        case forSession = 1
        /// As ``forSession``.
        case permanent = 2
        /// As ``forSession``.
        case synchronizable = 3
    }

    /// The name.
    public let user: String?
    /// The password.
    public let password: String?
    /// For how long.
    public let persistence: Persistence

    /// An answer to a challenge.
    ///
    /// - Parameters:
    ///   - user: The name.
    ///   - password: The password.
    ///   - persistence: For how long.
    public init(user: String, password: String, persistence: Persistence) {
        (self.user, self.password, self.persistence) = (user, password, persistence)
        super.init()
    }
}
