internal import Foundation

/// The scenes of an app: one, from when it first comes to the foreground, and those that it asks
/// for. They come and go with the app.
extension UIApplication {
    /// The scenes. None in an app that has no scene delegate, and none before the app was first in
    /// the foreground.
    public var connectedScenes: Set<UIScene> { Set(scenes) }

    /// The sessions of the scenes; before there is one, that of the first to come.
    public var openSessions: Set<UISceneSession> {
        scenes.isEmpty ? [firstSession] : Set(scenes.map(\.session))
    }

    /// Whether the app may ask for another scene: one with scenes may. Before it was first in the
    /// foreground, only a class of the usual name says that it has some.
    public var supportsMultipleScenes: Bool { !scenes.isEmpty || hasUsualSceneDelegate }

    /// Asks for another scene, which is connected soon; in the foreground only.
    ///
    /// - Parameters:
    ///   - sceneSession: Nil for another scene. One that is connected is in the foreground with
    ///     the app, and is told of the activity.
    ///   - userActivity: What the scene is for; in the options of its connection.
    ///   - options: Not used.
    ///   - errorHandler: Called soon, on the main thread, when there will be none.
    public func requestSceneSessionActivation(
        _ sceneSession: UISceneSession?,
        userActivity: NSUserActivity?,
        options: UIScene.ActivationRequestOptions?,
        errorHandler: ((any Error) -> Void)? = nil
    ) {
        soon { application in
            do throws(UISceneError) {
                try application.activate(sceneSession, userActivity)
            } catch {
                errorHandler?(error)
            }
        }
    }

    private func activate(
        _ known: UISceneSession?,
        _ activity: NSUserActivity?
    ) throws(UISceneError) {
        guard applicationState != .background else {
            let reason = "a scene is asked for in the background (ask in the foreground)"
            throw UISceneError(.requestDenied, reason: reason)
        }
        guard !scenes.isEmpty else {
            throw UISceneError(.multipleScenesNotSupported, reason: Self.noScenes)
        }
        if let scene = known?.scene {
            if let activity { scene.delegate?.scene(scene, continue: activity) }
            return
        }
        let session = known ?? anotherSession()
        let activities = Set([activity].compactMap(\.self))
        let scene = try connect(session, UIScene.ConnectionOptions(userActivities: activities))
        scene.enterForeground()
        if applicationState == .active { scene.becomeActive() }
    }

    private func anotherSession() -> UISceneSession {
        sceneCount += 1
        return UISceneSession("\(sceneCount)")
    }

    /// Asks for the end of a scene.
    ///
    /// - Parameters:
    ///   - sceneSession: Of the scene.
    ///   - options: Not used.
    ///   - errorHandler: Called soon, on the main thread, when it stays: an app with scenes has
    ///     one at least.
    public func requestSceneSessionDestruction(
        _ sceneSession: UISceneSession,
        options: UISceneDestructionRequestOptions?,
        errorHandler: ((any Error) -> Void)? = nil
    ) {
        soon { application in
            guard let index = application.scenes.firstIndex(where: { $0.session == sceneSession })
            else { return }
            guard application.scenes.count > 1 else {
                let reason = "the only scene of an app is to go (offstage leave APP, or close it)"
                errorHandler?(UISceneError(.requestDenied, reason: reason))
                return
            }
            let scene = application.scenes.remove(at: index)
            scene.resignActive()
            scene.enterBackground()
            scene.disconnect()
            application.delegate?.application(
                application,
                didDiscardSceneSessions: [sceneSession]
            )
        }
    }

    private static let noScenes =
        "the app has no scene delegate (name one in application(_:configurationForConnecting:"
        + "options:))"

    private func soon(_ body: @escaping @MainActor (UIApplication) -> Void) {
        Task { body(self) }
    }

    // MARK: Connecting

    /// The app is in the foreground, perhaps for the first time. What it was opened for goes to the
    /// scene that comes.
    func connectFirstScene() {
        guard !hasLookedForScenes else { return }
        hasLookedForScenes = true
        do throws(UISceneError) {
            try connect(firstSession, UIScene.ConnectionOptions(urls: unopened))
            unopened = []
        } catch {
            // Without one it is an app without scenes, as many are.
            if error.code == .requestDenied { LibraryLog.write(error.reason) }
        }
    }

    @discardableResult
    private func connect(
        _ session: UISceneSession,
        _ options: UIScene.ConnectionOptions
    ) throws(UISceneError) -> UIScene {
        guard let delegate else {
            throw UISceneError(.multipleScenesNotSupported, reason: Self.noScenes)
        }
        session.configuration = delegate.application(
            self,
            configurationForConnecting: session,
            options: options
        )
        guard let found = session.configuration.delegateClass ?? usualSceneDelegate else {
            throw UISceneError(.multipleScenesNotSupported, reason: Self.noScenes)
        }
        guard let usable = found as? SceneDelegateType else {
            throw UISceneError(
                .requestDenied,
                reason: "\(String(reflecting: found)) cannot be the delegate of a scene (derive it "
                    + "from UIResponder or NSObject, and conform it to UIWindowSceneDelegate)"
            )
        }
        let scene = UIWindowScene(session)
        scene.delegate = usable.make()
        session.scene = scene
        scenes.append(scene)
        scene.connect(options)
        return scene
    }

    private typealias SceneDelegateType = any (NSObject & UISceneDelegate).Type

    /// The class of the usual name, in the module of the app's delegate.
    private var usualSceneDelegate: AnyClass? {
        guard let delegate else { return nil }
        let module = String(reflecting: type(of: delegate)).prefix { $0 != "." }
        return NSClassFromString("\(module).SceneDelegate")
    }

    /// Whether the app has scenes, whatever its delegate answers later.
    var hasUsualSceneDelegate: Bool { usualSceneDelegate is SceneDelegateType }
}
