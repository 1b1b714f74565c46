public import Foundation

extension UIScene {
    /// Why a scene was connected.
    @preconcurrency
    @MainActor
    public class ConnectionOptions: NSObject {
        /// The addresses that the app was opened for.
        public let urlContexts: Set<UIOpenURLContext>

        /// What the app gave with its request for the scene.
        public let userActivities: Set<NSUserActivity>

        /// The quick action that the app was opened by. There is none here.
        public let shortcutItem: UIApplicationShortcutItem? = nil

        /// The kind of an activity that comes from another device. None does.
        public let handoffUserActivityType: String? = nil

        init(urls: [URL] = [], userActivities: Set<NSUserActivity> = []) {
            urlContexts = Set(urls.map { UIOpenURLContext($0) })
            self.userActivities = userActivities
            super.init()
        }
    }

    /// What is known of who asks for an address to be opened.
    @preconcurrency
    @MainActor
    public class OpenURLOptions: NSObject {
        /// The app that asks: nobody says it here.
        public let sourceApplication: String? = nil

        /// Whether the file is to be used where it is. It always is.
        public let openInPlace = true
    }

    /// How another scene is to come.
    @preconcurrency
    @MainActor
    public class ActivationRequestOptions: NSObject {
        /// The scene from which the user asked for it.
        public var requestingScene: UIScene?
    }
}

/// How a scene is to go.
@preconcurrency
@MainActor
public class UISceneDestructionRequestOptions: NSObject {}

/// An address that the app is to open.
@preconcurrency
@MainActor
public class UIOpenURLContext: NSObject {
    /// The address.
    public let url: URL

    /// What is known of who asks.
    public let options = UIScene.OpenURLOptions()

    init(_ url: URL) {
        self.url = url
        super.init()
    }
}
