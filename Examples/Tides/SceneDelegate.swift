import Offstage

class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    private var delegate: AppDelegate? { UIApplication.shared.delegate as? AppDelegate }

    func sceneDidBecomeActive(_ scene: UIScene) {
        print(delegate?.tides.next ?? "no table yet")
    }

    func sceneDidEnterBackground(_ scene: UIScene) {
        delegate?.schedule()
    }
}
