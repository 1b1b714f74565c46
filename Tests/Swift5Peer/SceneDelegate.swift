import Offstage

class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let windowScene = scene as? UIWindowScene else { return }
        window = UIWindow(windowScene: windowScene)
        say("connected \(session.configuration.name ?? "?") \(session.persistentIdentifier)")
        open(connectionOptions.urlContexts, "connected for")
    }

    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {
        open(URLContexts, "opened")
    }

    private func open(_ contexts: Set<UIOpenURLContext>, _ how: String) {
        guard !contexts.isEmpty else { return }
        let urls = contexts.map(\.url.absoluteString).sorted()
        say("\(how) \(urls.joined(separator: " ")) \(Thread.isMainThread)")
    }

    func sceneDidDisconnect(_ scene: UIScene) { say("scene disconnected") }
    func sceneDidBecomeActive(_ scene: UIScene) {
        say("scene active \(UIApplication.shared.connectedScenes.count)")
    }
    func sceneWillResignActive(_ scene: UIScene) { say("scene inactive") }
    func sceneWillEnterForeground(_ scene: UIScene) { say("scene in the foreground") }

    func sceneDidEnterBackground(_ scene: UIScene) {
        say("scene in the background")
        Refresher.schedule()
        Uploads.shared.finish()
    }
}
