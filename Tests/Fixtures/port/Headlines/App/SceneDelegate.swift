import UIKit  // expect: import UIKit

class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    // expect^: UIResponder | UIWindowSceneDelegate
    func scene(  // expect: scene(_:willConnectTo:options:)
        _ scene: UIScene,  // expect: UIScene
        willConnectTo session: UISceneSession,  // expect: UISceneSession
        options connectionOptions: UIScene.ConnectionOptions  // expect: UIScene
    ) {}

    func sceneDidEnterBackground(_ scene: UIScene) {
        // expect^: sceneDidEnterBackground(_:) | UIScene
        UIApplication.shared.isIdleTimerDisabled = false
        // expect^: UIApplication | isIdleTimerDisabled
    }

    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {}
    // expect^: scene(_:openURLContexts:) | UIScene | UIOpenURLContext
}
