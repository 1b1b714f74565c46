import Offstage

/// An app in the language mode of most apps, as iOS code is written in it: shared objects that ask
/// for time on any thread, a delegate that is a plain object, a scene delegate by its usual name.
@main
class AppDelegate: NSObject, UIApplicationDelegate {
    var window: UIWindow?
    private let launched: Date
    private let refresher = Refresher()

    override init() {
        launched = Date()
        super.init()
        say("made \(UIApplication.shared.applicationState)")
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        if let url = launchOptions?[.url] as? URL { say("launched for \(url)") }
        let others: [UIApplication.LaunchOptionsKey] = [
            .remoteNotification, .location, .shortcutItem, .userActivityDictionary,
            .sourceApplication,
        ]
        if others.contains(where: { launchOptions?[$0] != nil }) { say("launched for more") }
        if let item = launchOptions?[.shortcutItem] as? UIApplicationShortcutItem { show(item) }
        say("launched \(launched <= Date() && application.supportsMultipleScenes)")
        refresher.register()
        return true
    }

    func application(
        _ application: UIApplication,
        configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        let configuration = UISceneConfiguration(
            name: "Default Configuration",
            sessionRole: connectingSceneSession.role
        )
        configuration.sceneClass = UIWindowScene.self
        return configuration
    }

    func application(
        _ application: UIApplication,
        didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {}

    func application(
        _ application: UIApplication,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        restorationHandler(nil)
        return userActivity.activityType == NSUserActivityTypeBrowsingWeb
    }

    private func show(_ item: UIApplicationShortcutItem) {
        say("\(item.type) \(item.localizedTitle) \(item.userInfo?.count ?? 0)")
    }

    /// The app has scenes: these are never told.
    func applicationDidBecomeActive(_ application: UIApplication) { say("no scene is active") }
    func applicationDidEnterBackground(_ application: UIApplication) { say("no scene left") }
}

func say(_ text: String) { print(text) }
