public import Foundation
internal import Vocabulary

/// Time that an app asked for to finish something; see
/// ``UIApplication/beginBackgroundTask(withName:expirationHandler:)``.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    /// The number of the task in this process.
    public let rawValue: Int

    /// The task of a number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// No task: there is no time to be had.
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

/// What came of a wake to fetch.
public enum UIBackgroundFetchResult: UInt, Sendable {
    /// There was something new.
    case newData = 0
    /// There was nothing new.
    case noData = 1
    /// It could not be found out.
    case failed = 2

    var result: TaskResult {
        switch self {
        case .newData: .newData
        case .noData: .noData
        case .failed: .failed
        }
    }
}

/// Whether the app may be launched in the background.
public enum UIBackgroundRefreshStatus: Int, Sendable {
    /// Not on this device, or there is no daemon; the user cannot change it for the app.
    case restricted = 0
    /// The user has said no.
    case denied = 1
    /// It may.
    case available = 2

    init(_ told: Word<RefreshStatus>) {
        switch told.known {
        case .available: self = .available
        case .denied: self = .denied
        case .restricted, nil: self = .restricted
        }
    }
}

extension UIApplication {
    /// Where an app is between its launch and its suspension.
    public enum State: Int, Sendable {
        /// The user is there.
        case active = 0
        /// On the way to or from the user.
        case inactive = 1
        /// Running where nobody sees it.
        case background = 2
    }

    /// Why an app was launched, as its delegate is told.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The name of the option.
        public let rawValue: String

        /// The option of a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The address that it was opened for, a `URL`; of several, the first.
        public static let url = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsURLKey"
        )
        /// The app that asked for the address to be opened. Nobody says it here.
        public static let sourceApplication = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsSourceApplicationKey"
        )
        /// A push. No launch has it yet.
        public static let remoteNotification = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey"
        )
        /// An event of location. No launch has it yet.
        public static let location = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsLocationKey"
        )
        /// A quick action of the home screen. There is none here, so no launch has it.
        public static let shortcutItem = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsShortcutItemKey"
        )
        /// An activity to go on with. None comes from elsewhere, so no launch has it.
        public static let userActivityDictionary = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsUserActivityDictionaryKey"
        )
    }

    /// What is known of who asks for an address to be opened.
    public struct OpenURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// The name of the option.
        public let rawValue: String

        /// The option of a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The app that asks. Nobody says it here.
        public static let sourceApplication = OpenURLOptionsKey(
            rawValue: "UIApplicationOpenURLOptionsSourceApplicationKey"
        )
        /// Whether a file is to be used where it is.
        public static let openInPlace = OpenURLOptionsKey(
            rawValue: "UIApplicationOpenURLOptionsOpenInPlaceKey"
        )
    }

    // MARK: Notifications, posted on the main thread after the delegate was told

    /// Launching is over.
    public nonisolated static let didFinishLaunchingNotification = NSNotification.Name(
        "UIApplicationDidFinishLaunchingNotification"
    )
    /// The user is there.
    public nonisolated static let didBecomeActiveNotification = NSNotification.Name(
        "UIApplicationDidBecomeActiveNotification"
    )
    /// The user is leaving.
    public nonisolated static let willResignActiveNotification = NSNotification.Name(
        "UIApplicationWillResignActiveNotification"
    )
    /// The user has left.
    public nonisolated static let didEnterBackgroundNotification = NSNotification.Name(
        "UIApplicationDidEnterBackgroundNotification"
    )
    /// The user is coming back.
    public nonisolated static let willEnterForegroundNotification = NSNotification.Name(
        "UIApplicationWillEnterForegroundNotification"
    )
    /// The app is about to end.
    public nonisolated static let willTerminateNotification = NSNotification.Name(
        "UIApplicationWillTerminateNotification"
    )
    /// The app is near its memory limit.
    public nonisolated static let didReceiveMemoryWarningNotification = NSNotification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification"
    )
    /// ``backgroundRefreshStatus`` is another one.
    public nonisolated static let backgroundRefreshStatusDidChangeNotification =
        NSNotification.Name("UIApplicationBackgroundRefreshStatusDidChangeNotification")
}
