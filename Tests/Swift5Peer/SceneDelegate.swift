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
        if let item = connectionOptions.shortcutItem { say("connected for \(item.type)") }
        if let kind = connectionOptions.handoffUserActivityType { say("connected for \(kind)") }
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        say("goes on with \(userActivity.activityType)")
    }

    func windowScene(
        _ windowScene: UIWindowScene,
        performActionFor shortcutItem: UIApplicationShortcutItem,
        completionHandler: @escaping (Bool) -> Void
    ) {
        completionHandler(false)
    }

    /// As for a page that another device may go on with.
    private func advertise() {
        let activity = NSUserActivity(activityType: "org.offstage.swift5.reading")
        activity.isEligibleForHandoff = true
        activity.becomeCurrent()
        UIApplication.shared.requestSceneSessionActivation(
            UIApplication.shared.openSessions.first,
            userActivity: activity,
            options: nil
        )
    }

    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {
        open(URLContexts, "opened")
    }

    private func open(_ contexts: Set<UIOpenURLContext>, _ how: String) {
        guard !contexts.isEmpty else { return }
        let urls = contexts.map(\.url.absoluteString).sorted()
        if urls == ["news:advertise"] { advertise() }
        say("\(how) \(urls.joined(separator: " ")) \(Thread.isMainThread)")
    }

    func sceneDidDisconnect(_ scene: UIScene) {
        say("scene disconnected \(UIApplication.shared.connectedScenes.count)")
    }
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
