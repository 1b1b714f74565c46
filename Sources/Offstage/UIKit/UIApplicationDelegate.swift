public import Foundation

/// What an app is told of its life, on the main actor. Every method has a default, which is the
/// answer of an app that does not implement it.
@preconcurrency
@MainActor
public protocol UIApplicationDelegate: NSObjectProtocol {
    /// Launching has begun.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - launchOptions: Why it was launched; nil when its user did, without an address. An app
    ///     with scenes has the address in the options of its scene's connection alone.
    /// - Returns: False: ``application(_:open:options:)`` is not called for what it was launched
    ///   for.
    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Launching is nearly over: handlers of tasks are registered here. It is the same for a
    /// launch by the user and one in the background; the app tells them apart by
    /// ``UIApplication/applicationState``.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - launchOptions: Why it was launched; nil when its user did, without an address. An app
    ///     with scenes has the address in the options of its scene's connection alone.
    /// - Returns: False: ``application(_:open:options:)`` is not called for what it was launched
    ///   for.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Launching is nearly over: the form of a delegate that wants no options. It is called if
    /// the one with options is not implemented.
    func applicationDidFinishLaunching(_ application: UIApplication)

    /// The user is there. Not called in a launch in the background.
    func applicationDidBecomeActive(_ application: UIApplication)

    /// The user is leaving.
    func applicationWillResignActive(_ application: UIApplication)

    /// The user has left: the place to submit requests. The app is suspended soon after this
    /// returns, unless it holds background tasks, and at the latest after five seconds.
    func applicationDidEnterBackground(_ application: UIApplication)

    /// The user is coming back.
    func applicationWillEnterForeground(_ application: UIApplication)

    /// The process is asked to end, and has five seconds. A suspended app is not told.
    func applicationWillTerminate(_ application: UIApplication)

    /// The app is near its memory limit, past which it is terminated.
    func applicationDidReceiveMemoryWarning(_ application: UIApplication)

    /// A wake to fetch, of 30 seconds.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - completionHandler: To be called exactly once, on any thread, with what came of it. Each
    ///     wake has its own, also when two overlap. An app that does not call it is terminated.
    func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler:
            @escaping @Sendable (UIBackgroundFetchResult) -> Void
    )

    /// The same as an asynchronous method; implement one of the two.
    ///
    /// - Parameter application: The app.
    /// - Returns: What came of it.
    func applicationPerformFetch(_ application: UIApplication) async -> UIBackgroundFetchResult

    /// All tasks of a background session have ended. The app makes the session, if it has not yet;
    /// its delegate is then told what was missed.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - identifier: Of the session.
    ///   - completionHandler: To be called exactly once, on any thread, within 30 seconds: best in
    ///     `urlSessionDidFinishEvents(forBackgroundURLSession:)`.
    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @Sendable () -> Void
    )

    /// The same as an asynchronous method; implement one of the two.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - identifier: Of the session.
    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String
    ) async

    /// The app, which has no scenes, is opened for an address. It is called for each of them,
    /// before the app is active; after a launch only if both methods of launching answered true.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - url: The address.
    ///   - options: What is known of who asks: nothing, at present.
    /// - Returns: Nothing depends on it.
    func application(
        _ app: UIApplication,
        open url: URL,
        options: [UIApplication.OpenURLOptionsKey: Any]
    ) -> Bool

    /// Not called: activities come from no other device, and those of the app go to its scenes.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - userActivity: What to go on with.
    ///   - restorationHandler: Takes the objects that show it.
    /// - Returns: Whether the app goes on with it.
    func application(
        _ application: UIApplication,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping @Sendable ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool

    /// Not called: quick actions come from a home screen, and there is none.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - shortcutItem: The action.
    ///   - completionHandler: Takes whether it was done.
    func application(
        _ application: UIApplication,
        performActionFor shortcutItem: UIApplicationShortcutItem,
        completionHandler: @escaping @Sendable (Bool) -> Void
    )

    /// A scene is about to be connected.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - connectingSceneSession: Of the scene.
    ///   - options: Why.
    /// - Returns: How it is made.
    func application(
        _ application: UIApplication,
        configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration

    /// Scenes have been ended, as the app asked for.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - sceneSessions: Of these scenes.
    func application(
        _ application: UIApplication,
        didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    )

    /// Kept for the app; nothing is drawn.
    var window: UIWindow? { get set }
}

extension UIApplicationDelegate {
    /// Does nothing.
    public func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }

    /// Calls the form without options.
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        applicationDidFinishLaunching(application)
        return true
    }

    /// Does nothing.
    public func applicationDidFinishLaunching(_ application: UIApplication) {}

    /// Does nothing.
    public func applicationDidBecomeActive(_ application: UIApplication) {}

    /// Does nothing.
    public func applicationWillResignActive(_ application: UIApplication) {}

    /// Does nothing.
    public func applicationDidEnterBackground(_ application: UIApplication) {}

    /// Does nothing.
    public func applicationWillEnterForeground(_ application: UIApplication) {}

    /// Does nothing.
    public func applicationWillTerminate(_ application: UIApplication) {}

    /// Does nothing.
    public func applicationDidReceiveMemoryWarning(_ application: UIApplication) {}

    /// Calls the asynchronous method.
    public func application(
        _ application: UIApplication,
        performFetchWithCompletionHandler completionHandler:
            @escaping @Sendable (UIBackgroundFetchResult) -> Void
    ) {
        Task { completionHandler(await applicationPerformFetch(application)) }
    }

    /// Finds nothing new.
    public func applicationPerformFetch(
        _ application: UIApplication
    ) async -> UIBackgroundFetchResult { .noData }

    /// Calls the asynchronous method.
    public func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping @Sendable () -> Void
    ) {
        Task {
            await self.application(application, handleEventsForBackgroundURLSession: identifier)
            completionHandler()
        }
    }

    /// Does nothing.
    public func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String
    ) async {}
}

extension UIApplicationDelegate {
    /// Opens nothing.
    public func application(
        _ app: UIApplication,
        open url: URL,
        options: [UIApplication.OpenURLOptionsKey: Any]
    ) -> Bool { false }

    /// Goes on with nothing.
    public func application(
        _ application: UIApplication,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping @Sendable ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool { false }

    /// Does nothing.
    public func application(
        _ application: UIApplication,
        performActionFor shortcutItem: UIApplicationShortcutItem,
        completionHandler: @escaping @Sendable (Bool) -> Void
    ) { completionHandler(false) }

    /// The configuration that the session has.
    public func application(
        _ application: UIApplication,
        configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration { connectingSceneSession.configuration }

    /// Does nothing.
    public func application(
        _ application: UIApplication,
        didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {}

    /// None.
    public var window: UIWindow? {
        get { nil }
        set {}
    }
}

extension UIApplicationDelegate where Self: NSObject {
    /// Runs the app, with a delegate of this type, made by its `init()`: mark it `@main`. Returns
    /// never.
    @preconcurrency
    @MainActor
    public static func main() { UIApplication.shared.run(Self.make()) }
}
