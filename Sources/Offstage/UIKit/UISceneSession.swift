public import Foundation

/// What remains of a scene while it comes and goes.
@preconcurrency
@MainActor
public class UISceneSession: NSObject {
    /// The same for the app's first scene in every launch.
    public let persistentIdentifier: String

    /// What its scene is for.
    public let role: Role

    /// Nil while it is not connected.
    public internal(set) weak var scene: UIScene?

    /// What the app's delegate answered, once its scene is connected.
    public internal(set) var configuration: UISceneConfiguration

    /// For the app's own use, until its process ends.
    public var userInfo: [String: Any]?

    /// For the app's own use, until its process ends.
    public var stateRestorationActivity: NSUserActivity?

    init(_ persistentIdentifier: String, _ role: Role = .windowApplication) {
        self.persistentIdentifier = persistentIdentifier
        self.role = role
        configuration = UISceneConfiguration(name: nil, sessionRole: role)
        super.init()
    }

    /// What a scene is for.
    public struct Role: RawRepresentable, Hashable, Sendable {
        /// The name of the role.
        public let rawValue: String

        /// The role of a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// What its user works with.
        public static let windowApplication = Role(
            rawValue: "UIWindowSceneSessionRoleApplication"
        )
    }
}

/// How a scene is made, as an app's delegate answers in
/// ``UIApplicationDelegate/application(_:configurationForConnecting:options:)``.
@preconcurrency
@MainActor
public class UISceneConfiguration: NSObject {
    /// For the app's own use.
    public let name: String?

    /// What the scene is for.
    public let role: UISceneSession.Role

    /// Of the object that is told of the scene: it derives from `NSObject`, has an `init()`, and
    /// is a ``UISceneDelegate``. Without one it is the class `SceneDelegate` of the module of the
    /// app's delegate, which is what the property list of most apps names. An app that has neither
    /// has no scenes, and its own delegate is told of its life.
    ///
    /// An app that names its delegate here alone is known to have scenes when the first one comes:
    /// its launch options have the address that it is launched for, and so has the scene.
    public var delegateClass: AnyClass?

    /// Not used: a scene is a ``UIWindowScene``.
    public var sceneClass: AnyClass?

    /// A configuration.
    ///
    /// - Parameters:
    ///   - name: For the app's own use.
    ///   - sessionRole: As asked for.
    public init(name: String?, sessionRole: UISceneSession.Role) {
        self.name = name
        role = sessionRole
        super.init()
    }
}
