import Offstage

final class AppDelegate: UIResponder, UIApplicationDelegate {
    static let identifier = "org.offstage.swift6.cleaning"
    private var cleanings = 0

    override init() {
        super.init()
        print("made \(UIApplication.shared.applicationState)")
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        if let url = launchOptions?[.url] as? URL { print("launched for \(url)") }
        let isNew = BGTaskScheduler.shared.register(
            forTaskWithIdentifier: Self.identifier,
            using: .main
        ) { task in
            self.clean(task)
        }
        print("registered \(isNew)")
        return true
    }

    /// A closure that is written on the main actor runs there.
    private func clean(_ task: BGTask) {
        cleanings += 1
        task.expirationHandler = { [weak self] in
            MainActor.preconditionIsolated()
            print("expired \(self?.cleanings ?? 0)")
            task.setTaskCompleted(success: false)
        }
        print("cleaning \(task.expirationHandler != nil)")
    }

    func application(
        _ application: UIApplication,
        configurationForConnecting connectingSceneSession: UISceneSession,
        options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        let configuration = UISceneConfiguration(
            name: nil,
            sessionRole: connectingSceneSession.role
        )
        let named = ProcessInfo.processInfo.environment["DESK"]
        configuration.delegateClass = named.map { NSClassFromString($0) } ?? Desk.self
        return configuration
    }

    func application(
        _ application: UIApplication,
        didDiscardSceneSessions sceneSessions: Set<UISceneSession>
    ) {
        print("discarded \(sceneSessions.map(\.persistentIdentifier))")
    }
}

/// The delegate of each scene. The first one asks for another.
final class Desk: NSObject, UISceneDelegate {
    private var name = ""

    func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {
        name = session.persistentIdentifier
        let urls = connectionOptions.urlContexts.map(\.url.absoluteString)
        let activities = connectionOptions.userActivities.map(\.activityType)
        print("\(name) connected \(urls + activities)")
    }

    func sceneDidBecomeActive(_ scene: UIScene) {
        print("\(name) active \(UIApplication.shared.connectedScenes.count)")
        guard name == "1", UIApplication.shared.connectedScenes.count == 1 else { return }
        UIApplication.shared.requestSceneSessionActivation(
            nil,
            userActivity: NSUserActivity(activityType: "second"),
            options: nil
        )
    }

    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {
        for context in URLContexts { print("\(name) opened \(context.url)") }
        let others = UIApplication.shared.openSessions.filter { $0 != scene.session }
        for session in others {
            UIApplication.shared.requestSceneSessionDestruction(session, options: nil)
        }
    }

    func sceneDidEnterBackground(_ scene: UIScene) {
        print("\(name) in the background \(scene.activationState == .background)")
        let request = BGProcessingTaskRequest(identifier: AppDelegate.identifier)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("not scheduled: \(error)")
        }
    }

    func sceneDidDisconnect(_ scene: UIScene) { print("\(name) disconnected") }
}

/// As an app's own code asks for it, in this mode too.
protocol Expirable: AnyObject {
    var expirationHandler: (() -> Void)? { get set }
}

extension BGTask: Expirable {}
