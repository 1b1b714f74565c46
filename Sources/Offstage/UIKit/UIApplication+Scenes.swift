public import Foundation

/// The scenes of an app: one, from when it first comes to the foreground, and those that it asks
/// for. They come and go with the app.
extension UIApplication {
    /// The scenes. None in an app that has no scene delegate, and none before the app was first in
    /// the foreground.
    public var connectedScenes: Set<UIScene> { Set(scenes) }

    /// The sessions of the scenes, and in any case that of the first one.
    public var openSessions: Set<UISceneSession> { Set(scenes.map(\.session) + [firstSession]) }

    /// Whether the app may ask for another scene: one with scenes may.
    public var supportsMultipleScenes: Bool { !scenes.isEmpty }

    /// Asks for another scene, which is connected soon.
    ///
    /// - Parameters:
    ///   - sceneSession: Nil for another scene. A session that is connected is in the foreground
    ///     with the app.
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
            if let sceneSession, sceneSession.scene != nil { return }
            guard !application.scenes.isEmpty else {
                errorHandler?(UISceneError(.multipleScenesNotSupported, reason: Self.noScenes))
                return
            }
            guard application.applicationState != .background else {
                let reason = "a scene is asked for in the background (ask in the foreground)"
                errorHandler?(UISceneError(.requestDenied, reason: reason))
                return
            }
            application.sceneCount += 1
            let session = sceneSession ?? UISceneSession("\(application.sceneCount)")
            let activities = Set([userActivity].compactMap(\.self))
            let options = UIScene.ConnectionOptions(userActivities: activities)
            guard let scene = application.connect(session, options) else { return }
            scene.enterForeground()
            if application.applicationState == .active { scene.becomeActive() }
        }
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
        let options = UIScene.ConnectionOptions(urls: unopened)
        if connect(firstSession, options) != nil { unopened = [] }
    }

    @discardableResult
    private func connect(
        _ session: UISceneSession,
        _ options: UIScene.ConnectionOptions
    ) -> UIScene? {
        guard let delegate else { return nil }
        session.configuration = delegate.application(
            self,
            configurationForConnecting: session,
            options: options
        )
        guard let told = sceneDelegate(session.configuration, in: delegate) else { return nil }
        let scene = UIWindowScene(session)
        scene.delegate = told
        session.scene = scene
        scenes.append(scene)
        scene.connect(options)
        return scene
    }

    private func sceneDelegate(
        _ configuration: UISceneConfiguration,
        in application: any UIApplicationDelegate
    ) -> (any UISceneDelegate)? {
        let module = String(reflecting: type(of: application)).prefix { $0 != "." }
        let named: AnyClass? = configuration.delegateClass
        guard let found = named ?? NSClassFromString("\(module).SceneDelegate") else { return nil }
        guard let usable = found as? any (NSObject & UISceneDelegate).Type else {
            LibraryLog.write(
                "\(String(reflecting: found)) cannot be the delegate of a scene (derive it from "
                    + "UIResponder or NSObject, and conform it to UIWindowSceneDelegate)"
            )
            return nil
        }
        return usable.make()
    }
}

/// Why a scene does not come, or stays.
public struct UISceneError: _BridgedStoredNSError {
    /// The kinds of refusal.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error whose codes these are.
        public typealias _ErrorType = UISceneError

        /// The app has no scenes.
        case multipleScenesNotSupported = 0
        /// Not now.
        case requestDenied = 1
    }

    /// The error as Foundation knows it.
    public let _nsError: NSError

    /// The error of a Foundation one.
    public init(_nsError error: NSError) { _nsError = error }

    /// The domain of these errors.
    public static var _nsErrorDomain: String { "UISceneErrorDomain" }

    /// See ``Code/multipleScenesNotSupported``.
    public static var multipleScenesNotSupported: Code { .multipleScenesNotSupported }
    /// See ``Code/requestDenied``.
    public static var requestDenied: Code { .requestDenied }

    init(_ code: Code, reason: String) {
        self.init(code, userInfo: [NSLocalizedFailureReasonErrorKey: reason])
    }
}
