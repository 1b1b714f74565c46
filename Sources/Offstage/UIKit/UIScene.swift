public import Foundation

/// A part of an app that its user sees as one: where it is, and who is told of it.
///
/// An app whose delegate, or whose module, names a scene delegate has one scene, from when it first
/// comes to the foreground; see ``UISceneConfiguration/delegateClass``. Its windows are drawn by a
/// toolkit of the app's choice.
@preconcurrency
@MainActor
public class UIScene: UIResponder {
    /// Of which it is the presence.
    public let session: UISceneSession

    /// Told of its life; kept.
    public var delegate: (any UISceneDelegate)?

    /// Where it is.
    public internal(set) var activationState = ActivationState.unattached

    /// What it is called; for the app's own use.
    public var title: String = ""

    init(_ session: UISceneSession) {
        self.session = session
        super.init()
    }

    /// Where a scene is.
    public enum ActivationState: Int, Sendable {
        /// Not yet connected, or no more.
        case unattached = -1
        /// The user is there.
        case foregroundActive = 0
        /// On the way to or from the user.
        case foregroundInactive = 1
        /// Where nobody sees it.
        case background = 2
    }

    // MARK: Notifications, posted on the main thread after the delegate was told

    /// It has been connected.
    public nonisolated static let willConnectNotification = NSNotification.Name(
        "UISceneWillConnectNotification"
    )
    /// It is gone.
    public nonisolated static let didDisconnectNotification = NSNotification.Name(
        "UISceneDidDisconnectNotification"
    )
    /// The user is there.
    public nonisolated static let didActivateNotification = NSNotification.Name(
        "UISceneDidActivateNotification"
    )
    /// The user is leaving.
    public nonisolated static let willDeactivateNotification = NSNotification.Name(
        "UISceneWillDeactivateNotification"
    )
    /// The user is coming.
    public nonisolated static let willEnterForegroundNotification = NSNotification.Name(
        "UISceneWillEnterForegroundNotification"
    )
    /// The user has left.
    public nonisolated static let didEnterBackgroundNotification = NSNotification.Name(
        "UISceneDidEnterBackgroundNotification"
    )
}

/// A scene that may have windows.
public class UIWindowScene: UIScene {}

/// A window of a delegate's template. It draws nothing: windows are a toolkit's.
@preconcurrency
@MainActor
open class UIWindow: UIResponder {
    /// Where it is.
    public weak var windowScene: UIWindowScene?

    /// A window of no scene.
    public override init() { super.init() }

    /// A window of a scene.
    public init(windowScene: UIWindowScene) {
        self.windowScene = windowScene
        super.init()
    }
}

// MARK: Its life

extension UIScene {
    func connect(_ options: ConnectionOptions) {
        delegate?.scene(self, willConnectTo: session, options: options)
        post(Self.willConnectNotification)
        activationState = .background
    }

    func enterForeground() {
        guard activationState == .background else { return }
        delegate?.sceneWillEnterForeground(self)
        activationState = .foregroundInactive
        post(Self.willEnterForegroundNotification)
    }

    func becomeActive() {
        guard activationState == .foregroundInactive else { return }
        activationState = .foregroundActive
        delegate?.sceneDidBecomeActive(self)
        post(Self.didActivateNotification)
    }

    func resignActive() {
        guard activationState == .foregroundActive else { return }
        delegate?.sceneWillResignActive(self)
        activationState = .foregroundInactive
        post(Self.willDeactivateNotification)
    }

    func enterBackground() {
        guard activationState == .foregroundInactive else { return }
        activationState = .background
        delegate?.sceneDidEnterBackground(self)
        post(Self.didEnterBackgroundNotification)
    }

    func disconnect() {
        delegate?.sceneDidDisconnect(self)
        activationState = .unattached
        session.scene = nil
        post(Self.didDisconnectNotification)
    }

    private func post(_ name: NSNotification.Name) {
        NotificationCenter.default.post(name: name, object: self)
    }
}
