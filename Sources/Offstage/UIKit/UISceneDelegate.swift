public import Foundation

/// What an app is told of one of its scenes, on the main actor. Every method has a default, which
/// is the answer of an app that does not implement it.
///
/// An app with scenes is told of its user's coming and going here, and not by the methods of its
/// own delegate with the same meaning.
@preconcurrency
@MainActor
public protocol UISceneDelegate: NSObjectProtocol {
    /// The scene is connected: in a launch by the user when launching is nearly over, after one in
    /// the background when the user first comes.
    ///
    /// - Parameters:
    ///   - scene: The scene.
    ///   - session: Of which it is the presence.
    ///   - connectionOptions: Why.
    func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    )

    /// The scene is gone, or the app is about to end.
    func sceneDidDisconnect(_ scene: UIScene)

    /// The user is there.
    func sceneDidBecomeActive(_ scene: UIScene)

    /// The user is leaving.
    func sceneWillResignActive(_ scene: UIScene)

    /// The user is coming: for the first time, or back.
    func sceneWillEnterForeground(_ scene: UIScene)

    /// The user has left: the place to submit requests. The app is suspended soon after this
    /// returns, unless it holds background tasks, and at the latest after five seconds.
    func sceneDidEnterBackground(_ scene: UIScene)

    /// The app is opened for addresses, while the scene is connected.
    ///
    /// - Parameters:
    ///   - scene: The app's first scene.
    ///   - URLContexts: The addresses.
    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>)

    /// The app asked for a scene that is connected; see
    /// ``UIApplication/requestSceneSessionActivation(_:userActivity:options:errorHandler:)``.
    ///
    /// - Parameters:
    ///   - scene: The scene.
    ///   - userActivity: What the app gave. None comes from elsewhere.
    func scene(_ scene: UIScene, continue userActivity: NSUserActivity)
}

/// The same of a scene that may have windows.
@preconcurrency
@MainActor
public protocol UIWindowSceneDelegate: UISceneDelegate {
    /// Kept for the app; nothing is drawn.
    var window: UIWindow? { get set }

    /// Not called: quick actions come from a home screen, and there is none.
    ///
    /// - Parameters:
    ///   - windowScene: The scene.
    ///   - shortcutItem: The action.
    ///   - completionHandler: Takes whether it was done.
    func windowScene(
        _ windowScene: UIWindowScene,
        performActionFor shortcutItem: UIApplicationShortcutItem,
        completionHandler: @escaping @Sendable (Bool) -> Void
    )
}

extension UISceneDelegate {
    /// Does nothing.
    public func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {}

    /// Does nothing.
    public func sceneDidDisconnect(_ scene: UIScene) {}

    /// Does nothing.
    public func sceneDidBecomeActive(_ scene: UIScene) {}

    /// Does nothing.
    public func sceneWillResignActive(_ scene: UIScene) {}

    /// Does nothing.
    public func sceneWillEnterForeground(_ scene: UIScene) {}

    /// Does nothing.
    public func sceneDidEnterBackground(_ scene: UIScene) {}

    /// Does nothing.
    public func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {}

    /// Does nothing.
    public func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {}
}

extension UIWindowSceneDelegate {
    /// None.
    public var window: UIWindow? {
        get { nil }
        set {}
    }

    /// Does nothing.
    public func windowScene(
        _ windowScene: UIWindowScene,
        performActionFor shortcutItem: UIApplicationShortcutItem,
        completionHandler: @escaping @Sendable (Bool) -> Void
    ) { completionHandler(false) }
}
