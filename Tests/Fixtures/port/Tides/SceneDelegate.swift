import UIKit

class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    private var delegate: AppDelegate? { UIApplication.shared.delegate as? AppDelegate }

    func scene(
        _ scene: UIScene,
        willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let windowScene = scene as? UIWindowScene else { return }
        let window = UIWindow(windowScene: windowScene)
        window.rootViewController = TidesViewController()
        window.makeKeyAndVisible()
        self.window = window
    }

    func sceneDidBecomeActive(_ scene: UIScene) {
        print(delegate?.tides.next ?? "no table yet")
    }

    func sceneDidEnterBackground(_ scene: UIScene) {
        delegate?.schedule()
    }
}
