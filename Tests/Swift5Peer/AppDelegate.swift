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
        say("made")
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        if let url = launchOptions?[.url] as? URL { say("launched for \(url)") }
        if launchOptions?[.remoteNotification] != nil || launchOptions?[.location] != nil {
            say("launched for more")
        }
        say("launched \(launched <= Date())")
        refresher.register()
        return true
    }

    func application(
        _ application: UIApplication,
        configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        UISceneConfiguration(
            name: "Default Configuration",
            sessionRole: connectingSceneSession.role
        )
    }

    func application(
        _ application: UIApplication,
        didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {}

    /// The app has scenes: these are never told.
    func applicationDidBecomeActive(_ application: UIApplication) { say("no scene is active") }
    func applicationDidEnterBackground(_ application: UIApplication) { say("no scene left") }
}

func say(_ text: String) { print(text) }
