import UIKit  // expect: import UIKit

class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    // expect^: UIResponder | UIWindowSceneDelegate
    func scene(  // expect: scene(_:willConnectTo:options:)
        _ scene: UIScene,  // expect: UIScene
        willConnectTo session: UISceneSession,  // expect: UISceneSession
        options connectionOptions: UIScene.ConnectionOptions  // expect: UIScene
    ) {
        let window = UIWindow(windowScene: scene)  // expect: UIWindow
        window.rootViewController = Headlines()  // expect: rootViewController
        window.makeKeyAndVisible()  // expect: makeKeyAndVisible
        let response = connectionOptions.notificationResponse
        // expect^: UIScene.ConnectionOptions.notificationResponse
        let item = connectionOptions.shortcutItem
        // expect^: UIScene.ConnectionOptions.shortcutItem
        let other = menu.shortcutItem
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {}
    // expect^: scene(_:continue:) | UIScene | NSUserActivity

    func windowScene(  // expect: windowScene(_:performActionFor:completionHandler:)
        _ windowScene: UIWindowScene,  // expect: UIWindowScene
        performActionFor shortcutItem: UIApplicationShortcutItem,
        // expect^: UIApplicationShortcutItem
        completionHandler: @escaping (Bool) -> Void
    ) {}

    func sceneDidEnterBackground(_ scene: UIScene) {
        // expect^: sceneDidEnterBackground(_:) | UIScene
        UIApplication.shared.isIdleTimerDisabled = false
        // expect^: UIApplication | isIdleTimerDisabled
    }

    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {}
    // expect^: scene(_:openURLContexts:) | UIScene | UIOpenURLContext
}
